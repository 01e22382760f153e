import { useEffect } from "react";
import { Unavailable } from "@/components/Unavailable";
import { Warnings } from "@/components/Warnings";
import { HistoryChart } from "@/features/sweeps/HistoryChart";
import { Matrix } from "@/features/sweeps/Matrix";
import { RunSweep } from "@/features/sweeps/RunSweep";
import { RunTable } from "@/features/sweeps/RunTable";
import { useSweep } from "@/features/sweeps/api/getSweep";
import { useRuns } from "@/features/sweeps/api/listRuns";
import { inZone, until } from "@/features/sweeps/times";
import { useNow } from "@/lib/clock";
import { Link } from "@/lib/router";

export function SweepRoute({ id }: { id: string }) {
  const { data: sweep, error, refetch } = useSweep(id);
  const list = useRuns(id);
  const now = useNow(20_000);
  const runs = list.data?.pages.flatMap((page) => page.items);
  useEffect(() => {
    document.title = sweep ? `${sweep.name} · Millrace` : "Millrace";
  }, [sweep]);

  if (error && !sweep) return <Unavailable error={error} onRetry={() => void refetch()} />;
  if (!sweep) return <div className="skeleton page" />;
  return (
    <>
      <header className="page-head">
        <nav className="crumbs" aria-label="Breadcrumb">
          <Link href="/sweeps">Sweeps</Link> <span>/</span> <code>{sweep.id}</code>
        </nav>
        <div className="title-row">
          <h1>
            {sweep.name}{" "}
            <span className="subtitle">
              <code>{sweep.cron}</code> in {sweep.zone}
            </span>
          </h1>
          <span className="hint">
            {sweep.next_at ? `next ${inZone(sweep.next_at, sweep.zone)}, ${until(sweep.next_at, now)}` : "switched off"}
          </span>
          <span className="spacer" />
          <RunSweep sweep={sweep} />
        </div>
        <Warnings texts={sweep.warnings} />
      </header>
      <div className="stack-gap">
        <div className="farm-columns">
          <section className="card" aria-label="Hypervolume">
            <div className="card-head">
              <h2>Hypervolume over the runs</h2>
              <ul className="legend">
                <li>
                  <i className="mark mark-run-same" /> same
                </li>
                <li>
                  <i className="mark mark-run-changed" /> changed
                </li>
                <li>
                  <i className="mark mark-run-regressed" /> regressed
                </li>
              </ul>
            </div>
            {runs && runs.some((r) => r.index !== null) ? <HistoryChart runs={runs} /> : <p className="hint">No run has ended yet.</p>}
          </section>
          <Matrix sweep={sweep} />
        </div>
        {runs && runs.length > 0 && <RunTable runs={runs} now={now} />}
        {list.hasNextPage && (
          <button type="button" className="button more" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Older runs
          </button>
        )}
      </div>
    </>
  );
}
