import { Progress } from "@/components/Progress";
import { StateBadge } from "@/components/badges";
import { useBest } from "@/features/explorations/api/getBest";
import type { Exploration } from "@/lib/api/types";
import { useNow } from "@/lib/clock";
import { ago, exactTime, number, withUnit } from "@/lib/format";
import { Link, navigate } from "@/lib/router";
import { isActive } from "@/lib/states";
import { workloadText } from "@/lib/workload";

function Row({ exploration: e, now }: { exploration: Exploration; now: number }) {
  const best = useBest(e);
  const href = `/explorations/${e.id}`;
  return (
    <tr className="row-link" onClick={(event) => event.defaultPrevented || navigate(href)} data-exploration={e.id}>
      <td>
        <Link href={href} className="strong">
          {e.model.name}
        </Link>
        <small>{workloadText(e)}</small>
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
      <td className="num">{withUnit(best.data?.latency_us, "us")}</td>
      <td className="num">{withUnit(best.data?.energy_uj, "uJ")}</td>
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
            <th scope="col">Model and workload</th>
            <th scope="col">Platform</th>
            <th scope="col">State</th>
            <th scope="col">Evaluated</th>
            <th scope="col" className="num">Front</th>
            <th scope="col" className="num" title="Fidelity: estimate">Best latency</th>
            <th scope="col" className="num" title="Fidelity: estimate">Best energy</th>
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
