import { DEFAULT, OBJECTIVES, title } from "@/lib/objectives";

const NAMES = ["objective_1", "objective_2", "objective_3"];
const LABELS = ["Make small", "Make small, second", "Make small, third"];

/** Of a form with `ObjectiveFields`: what was chosen, each once. */
export const toObjectives = (form: FormData): string[] => [...new Set(NAMES.map((name) => String(form.get(name))).filter(Boolean))];

/** What a search makes small: two, or three. */
export function ObjectiveFields() {
  return NAMES.map((name, i) => (
    <label key={name}>
      {LABELS[i]}
      <select name={name} defaultValue={DEFAULT[i] ?? ""}>
        {i === 2 && <option value="">nothing else</option>}
        {OBJECTIVES.map((value) => (
          <option key={value} value={value}>
            {title(value)}
          </option>
        ))}
      </select>
    </label>
  ));
}
