import type { Filters } from "@/features/builds/api/listBuilds";
import type { BuildState, Stage } from "@/lib/api/types";

const STATES: BuildState[] = ["running", "queued", "blocked", "done", "failed", "cancelled"];
const STAGES: Stage[] = ["lower", "search", "simulate", "csim", "csynth", "cosim", "link", "measure", "calibrate"];

interface Props {
  filters: Filters;
  nodes: readonly string[];
  onChange(name: keyof Filters, value: string | null): void;
}

interface ChoiceProps extends Props {
  name: keyof Filters;
  label: string;
  values: readonly string[];
}

function Choice({ name, label, values, filters, onChange }: ChoiceProps) {
  const chosen = filters[name] ?? "";
  const all = chosen && !values.includes(chosen) ? [chosen, ...values] : values;
  return (
    <label>
      {label}
      <select value={chosen} onChange={(e) => onChange(name, e.target.value || null)}>
        <option value="">any</option>
        {all.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What of the builds is listed; the rest of the filters comes by links from other pages. */
export function BuildFilters(props: Props) {
  const { filters, onChange } = props;
  const fixed = (["exploration", "design", "queue"] as const).filter((name) => filters[name]);
  return (
    <div className="filters" role="group" aria-label="Filters">
      <Choice {...props} name="state" label="State" values={STATES} />
      <Choice {...props} name="stage" label="Stage" values={STAGES} />
      <Choice {...props} name="node" label="Node" values={props.nodes} />
      {fixed.map((name) => (
        <span key={name} className="chip">
          {name} <code>{filters[name]}</code>
          <button type="button" className="link" aria-label={`Of any ${name}`} onClick={() => onChange(name, null)}>
            ✕
          </button>
        </span>
      ))}
    </div>
  );
}
