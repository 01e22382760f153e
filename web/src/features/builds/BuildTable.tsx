import { BuildSubject } from "@/components/BuildSubject";
import { BuildBadge } from "@/components/badges";
import type { Build } from "@/lib/api/types";
import { ago, duration, exactTime, parseTime } from "@/lib/format";
import { Link, navigate } from "@/lib/router";

const seconds = ({ started_at, finished_at }: Build, now: number): number | null =>
  started_at ? ((finished_at ? parseTime(finished_at) : now) - parseTime(started_at)) / 1000 : null;

/** What is worth saying of a build in one line. */
function note(b: Build): string {
  if (b.waiting) return b.waiting;
  if (b.error) return b.error.split("\n")[0] ?? "";
  if (b.adopted_from) return "results from the cache";
  return b.history.length ? `after ${b.history.length} failed ${b.history.length === 1 ? "attempt" : "attempts"}` : "";
}

function Row({ build: b, now }: { build: Build; now: number }) {
  const href = `/builds/${b.id}`;
  const took = seconds(b, now);
  return (
    <tr className="row-link" data-build={b.id} onClick={(event) => event.defaultPrevented || navigate(href)}>
      <td>
        <Link href={href} className="strong">
          {b.stage}
        </Link>
        <small className="faint">{b.id}</small>
      </td>
      <td>
        <BuildBadge state={b.state} />
        {b.failure && b.state === "failed" && <small className="bad"> {b.failure}</small>}
      </td>
      <td>
        <BuildSubject build={b} />
      </td>
      <td className="note-cell" title={b.error ?? b.waiting ?? undefined}>
        {note(b)}
      </td>
      <td>{b.node ?? <span className="faint">{b.queue}</span>}</td>
      <td className="num">{took === null ? "–" : duration(took)}</td>
      <td className="num">
        <time dateTime={b.created_at} title={exactTime(b.created_at)}>
          {ago(b.created_at, now)}
        </time>
      </td>
    </tr>
  );
}

export function BuildTable({ builds, now }: { builds: readonly Build[]; now: number }) {
  return (
    <div className="card scroll-x">
      <table className="data builds-table">
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col">State</th>
            <th scope="col">Of</th>
            <th scope="col">
              <span className="sr-only">Why</span>
            </th>
            <th scope="col">Node or queue</th>
            <th scope="col" className="num">Took</th>
            <th scope="col" className="num">Created</th>
          </tr>
        </thead>
        <tbody>
          {builds.map((b) => (
            <Row key={b.id} build={b} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
