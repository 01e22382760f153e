import { Tag } from "@/components/badges";
import { useWaiting } from "@/features/farm/api/getWaiting";
import type { QueueState } from "@/lib/api/farm";
import { duration, number } from "@/lib/format";
import { Link } from "@/lib/router";

function Wait({ queue: q }: { queue: QueueState }) {
  const { data } = useWaiting(q.name, q.waiting > 0);
  if (!q.waiting) return null;
  return (
    <>
      {!q.nodes && <Tag tone="bad">no node</Tag>} {data ?? "…"}
    </>
  );
}

function Row({ queue: q, most }: { queue: QueueState; most: number }) {
  return (
    <tr data-queue={q.name}>
      <td className="queue-name">
        <Link href={`/builds?queue=${encodeURIComponent(q.name)}`}>
          <code>{q.name}</code>
        </Link>
      </td>
      <td>
        <span className="queue-bar" aria-hidden="true">
          <i className="running" style={{ flexGrow: q.running }} />
          <i className={q.nodes ? "waiting" : "waiting stuck"} style={{ flexGrow: q.waiting }} />
          <i style={{ flexGrow: Math.max(0, most - q.running - q.waiting) }} />
        </span>
      </td>
      <td className="num">{number(q.running)}</td>
      <td className="num">{number(q.waiting)}</td>
      <td className="num">{q.oldest_s === null ? "–" : duration(q.oldest_s)}</td>
      <td className="num">{number(q.nodes)}</td>
      <td className="wrap">
        <Wait queue={q} />
      </td>
    </tr>
  );
}

/** Served, and with nothing to do. */
function Idle({ queues }: { queues: readonly QueueState[] }) {
  if (!queues.length) return null;
  return (
    <div className="idle">
      idle
      {queues.map((q) => (
        <span key={q.name} className="chip" title={q.nodes === 1 ? "1 node serves it" : `${q.nodes} nodes serve it`}>
          <code>{q.name}</code>
        </span>
      ))}
    </div>
  );
}

export function QueueTable({ queues: all }: { queues: readonly QueueState[] }) {
  const queues = all.filter((q) => q.running + q.waiting > 0);
  const most = Math.max(1, ...queues.map((q) => q.running + q.waiting));
  return (
    <section className="card" aria-label="Queues" data-testid="queues">
      <div className="card-head">
        <h2>Queues</h2>
        <ul className="legend">
          <li>
            <i className="mark square queue-running" /> running
          </li>
          <li>
            <i className="mark square queue-waiting" /> waiting
          </li>
        </ul>
      </div>
      {!queues.length && <p className="hint">Nothing waits and nothing runs.</p>}
      {queues.length > 0 && (
        <div className="scroll-x">
          <table className="data queue-table">
            <thead>
              <tr>
                <th scope="col">Capability</th>
                <th scope="col">
                  <span className="sr-only">Running and waiting</span>
                </th>
                <th scope="col" className="num">Running</th>
                <th scope="col" className="num">Waiting</th>
                <th scope="col" className="num">Oldest</th>
                <th scope="col" className="num">Nodes</th>
                <th scope="col">Why it waits</th>
              </tr>
            </thead>
            <tbody>
              {queues.map((q) => (
                <Row key={q.name} queue={q} most={most} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Idle queues={all.filter((q) => q.running + q.waiting === 0)} />
    </section>
  );
}
