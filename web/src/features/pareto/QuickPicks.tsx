import type { FrontPick, Objective } from "@/lib/api/types";
import { withUnit } from "@/lib/format";
import { inWords, title } from "@/lib/objectives";

/** The knee is the design ... The words of `dse.archive.KNEE`. */
const KNEE =
  "farthest below the chord between the ends of the front (of three objectives: the plane), in log scale over its extent; " +
  "where none lies below it, with the least product of the objectives";

/** An objective with its fidelity; that of a simulated latency also by the estimate. */
function Value({ objective, pick, place }: { objective: Objective; pick: FrontPick; place: number }) {
  const value = withUnit(pick.objectives[place], objective.unit);
  if (objective.name !== "latency") return <small>{value} estimate</small>;
  return (
    <>
      {value} <small className="inline">{pick.fidelity}</small>
      {pick.fidelity === "simulate" && <small>{withUnit(pick.estimates[place], objective.unit)} estimate</small>}
    </>
  );
}

interface Props {
  picks: readonly FrontPick[];
  objectives: readonly Objective[];
  onSelect(id: string): void;
}

/** What the right-hand side offers before a design is chosen: the service's picks; one that is several of them once. */
export function QuickPicks({ picks, objectives, onSelect }: Props) {
  const meaning = (kind: string): string => {
    const objective = objectives.find(({ best }) => best === kind);
    return objective ? `lowest ${inWords([objective])}` : KNEE;
  };
  const kinds = (id: string) => picks.filter(({ design_id }) => design_id === id).map(({ kind }) => kind);
  const chosen = picks.filter(({ design_id, kind }) => kinds(design_id)[0] === kind);
  return (
    <aside className="card panel picks" aria-label="Choose a design">
      <h2>Choose a design</h2>
      <p className="hint">Click a point of the plot or a row of the table to see its knobs, metrics and files.</p>
      {chosen.map((pick) => (
        <button key={pick.kind} type="button" className="pick" onClick={() => onSelect(pick.design_id)}>
          <span>
            <strong>{kinds(pick.design_id).map(title).join(", ")}</strong>
            <small>{kinds(pick.design_id).map(meaning).join("; ")}</small>
          </span>
          <span className="num">
            {objectives.map((objective, place) => (
              <Value key={objective.name} objective={objective} pick={pick} place={place} />
            ))}
          </span>
        </button>
      ))}
    </aside>
  );
}
