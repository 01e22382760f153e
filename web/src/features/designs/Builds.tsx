import { BuildBadge } from "@/components/badges";
import type { Build } from "@/lib/api/types";
import { duration, exactTime, parseTime } from "@/lib/format";
import { Link } from "@/lib/router";

const seconds = (from: string, to: string) => (parseTime(to) - parseTime(from)) / 1000;

export function Builds({ builds }: { builds: readonly Build[] }) {
  return (
    <section className="block" aria-label="Builds">
      <h2>Builds</h2>
      {!builds.length && <p className="hint">None yet.</p>}
      {builds.length > 0 && (
        <table className="data compact">
          <tbody>
            {builds.map((b) => (
              <tr key={b.id} title={`${b.id}, ${exactTime(b.created_at)}`}>
                <td className="strong">
                  <Link href={`/builds/${b.id}`}>{b.stage}</Link>
                </td>
                <td>
                  <BuildBadge state={b.state} />
                </td>
                <td className="num">{b.started_at && b.finished_at ? duration(seconds(b.started_at, b.finished_at)) : ""}</td>
                <td className="num">{b.log_url && <a href={b.log_url} target="_blank" rel="noreferrer">Log</a>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
