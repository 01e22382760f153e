import { RunBadge } from "@/features/sweeps/RunBadge";
import type { SweepRunSummary } from "@/lib/api/sweeps";
import { ago, duration, exactTime, number, parseTime } from "@/lib/format";
import { Link, navigate } from "@/lib/router";

const took = ({ created_at, finished_at }: SweepRunSummary): string =>
  finished_at ? duration((parseTime(finished_at) - parseTime(created_at)) / 1000) : "";

function Row({ run: r, now }: { run: SweepRunSummary; now: number }) {
  const href = `/sweep-runs/${r.id}`;
  return (
    <tr className="row-link" data-run={r.id} onClick={(event) => event.defaultPrevented || navigate(href)}>
      <td>
        <Link href={href}>
          <time dateTime={r.created_at} title={exactTime(r.created_at)}>
            {ago(r.created_at, now)}
          </time>
        </Link>
      </td>
      <td>
        <RunBadge state={r.state} accepted={r.accepted !== null} />
      </td>
      <td className="num">{r.index === null ? "–" : r.index.toFixed(3)}</td>
      <td className={r.regression_count ? "num bad" : "num"}>{r.regression_count ? number(r.regression_count) : "–"}</td>
      <td className="num">{r.improvement_count ? number(r.improvement_count) : "–"}</td>
      <td className="num">
        {r.ended} / {r.explorations}
      </td>
      <td className="num">{r.builds ? `${number(r.builds.ran)} + ${number(r.builds.cached)}` : "–"}</td>
      <td className="num">{took(r)}</td>
      <td>{r.cause}</td>
    </tr>
  );
}

export function RunTable({ runs, now }: { runs: readonly SweepRunSummary[]; now: number }) {
  return (
    <div className="card scroll-x">
      <table className="data runs-table">
        <thead>
          <tr>
            <th scope="col">Started</th>
            <th scope="col">State</th>
            <th scope="col" className="num" title="Of the fronts, 1 at the first run">Hypervolume</th>
            <th scope="col" className="num">Worse</th>
            <th scope="col" className="num">Better</th>
            <th scope="col" className="num">Explorations</th>
            <th scope="col" className="num" title="Builds that ran, and those whose results came from the cache">Ran + cached</th>
            <th scope="col" className="num">Took</th>
            <th scope="col">Cause</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((r) => (
            <Row key={r.id} run={r} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
