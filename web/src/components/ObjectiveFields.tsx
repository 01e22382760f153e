import type { Phase } from "@/lib/api/types";
import { OBJECTIVES, title, usual } from "@/lib/objectives";

const NAMES = ["objective_1", "objective_2", "objective_3"];
const LABELS = ["Make small", "Make small, second", "Make small, third"];

/** Of a form with `ObjectiveFields`: what was chosen, each once. */
export const toObjectives = (form: FormData): string[] => [...new Set(NAMES.map((name) => String(form.get(name))).filter(Boolean))];

/** What a search makes small: two, or three; at first what is usual in the phase. */
export function ObjectiveFields({ phase }: { phase?: Phase }) {
  return NAMES.map((name, i) => (
    <label key={name}>
      {LABELS[i]}
      <select key={usual(phase)[i] ?? ""} name={name} defaultValue={usual(phase)[i] ?? ""}>
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
