import { Progress } from "@/components/Progress";
import { StateBadge } from "@/components/badges";
import type { Exploration } from "@/lib/api/types";
import { useNow } from "@/lib/clock";
import { ago, exactTime, number, withUnit } from "@/lib/format";
import { Link, navigate } from "@/lib/router";
import { isActive } from "@/lib/states";
import { workloadText } from "@/lib/workload";

/** The design of the front with the least of an objective, and that; none where the search has others. */
function best({ objectives, picks }: Exploration, name: string) {
  const place = objectives.findIndex((objective) => objective.name === name);
  const pick = picks.find(({ kind }) => kind === objectives[place]?.best);
  return pick && { value: pick.objectives[place], estimate: pick.estimates[place], fidelity: pick.fidelity };
}

function Row({ exploration: e, now }: { exploration: Exploration; now: number }) {
  const fastest = best(e, "latency");
  const frugal = best(e, "energy");
  const href = `/explorations/${e.id}`;
  return (
    <tr className="row-link" onClick={(event) => event.defaultPrevented || navigate(href)} data-exploration={e.id}>
      <td>
        <Link href={href} className="strong">
          {e.name}
        </Link>
        <small>
          {e.model.name}, {workloadText(e)}
        </small>
        {e.archived && <small>archived</small>}
        {e.tags.length > 0 && <small className="tags">{e.tags.join(" · ")}</small>}
      </td>
      <td>{e.platform}</td>
      <td>
        <StateBadge state={e.state} />
      </td>
      <td>
        <span className="progress-cell">
          <Progress value={e.evaluated} max={e.budget} busy={isActive(e.state)} label="Designs evaluated" />
          <small className="num">
            {number(e.evaluated)} / {number(e.budget)}
          </small>
        </span>
      </td>
      <td className="num">{e.front_size ? number(e.front_size) : "–"}</td>
      <td className="num" title={fastest && `estimate ${withUnit(fastest.estimate, "us")}`}>
        {withUnit(fastest?.value, "us")}
        {fastest && <small>{fastest.fidelity}</small>}
      </td>
      <td className="num">
        {withUnit(frugal?.value, "uJ")}
        {frugal && <small>estimate</small>}
      </td>
      <td className="num">
        <time dateTime={e.created_at} title={exactTime(e.created_at)}>
          {ago(e.created_at, now)}
        </time>
      </td>
    </tr>
  );
}

export function ExplorationTable({ explorations }: { explorations: Exploration[] }) {
  const now = useNow(20_000);
  return (
    <div className="card scroll-x">
      <table className="data explorations">
        <thead>
          <tr>
            <th scope="col">Name and workload</th>
            <th scope="col">Platform</th>
            <th scope="col">State</th>
            <th scope="col">Evaluated</th>
            <th scope="col" className="num">Front</th>
            <th scope="col" className="num" title="By simulation as soon as a design of the front is simulated">
              Best latency
            </th>
            <th scope="col" className="num">Best energy</th>
            <th scope="col" className="num">Created</th>
          </tr>
        </thead>
        <tbody>
          {explorations.map((e) => (
            <Row key={e.id} exploration={e} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
