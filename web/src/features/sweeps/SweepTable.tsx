import { RunBadge } from "@/features/sweeps/RunBadge";
import { inZone, until } from "@/features/sweeps/times";
import type { Sweep } from "@/lib/api/sweeps";
import { ago, exactTime, number } from "@/lib/format";
import { Link, navigate } from "@/lib/router";

function Next({ sweep: s, now }: { sweep: Sweep; now: number }) {
  if (!s.next_at) return <span className="faint">switched off</span>;
  return (
    <>
      <time dateTime={s.next_at} title={exactTime(s.next_at)}>
        {inZone(s.next_at, s.zone)}
      </time>
      <small>
        {s.zone}, {until(s.next_at, now)}
      </small>
    </>
  );
}

function Last({ sweep: { last_run: run }, now }: { sweep: Sweep; now: number }) {
  if (!run) return <span className="faint">never ran</span>;
  const said = run.state === "running" ? `${run.ended} of ${run.explorations} explorations` : run.regression_count ? `${run.regression_count} worse` : "";
  return (
    <>
      <Link href={`/sweep-runs/${run.id}`}>
        <RunBadge state={run.state} accepted={run.accepted !== null} />
      </Link>
      <small>
        {said}
        {said && ", "}
        {ago(run.created_at, now)}
      </small>
    </>
  );
}

function Row({ sweep: s, now }: { sweep: Sweep; now: number }) {
  const href = `/sweeps/${s.id}`;
  return (
    <tr className="row-link" data-sweep={s.id} onClick={(event) => event.defaultPrevented || navigate(href)}>
      <td>
        <Link href={href} className="strong">
          {s.name}
        </Link>
        <small>
          {number(s.explorations)} {s.explorations === 1 ? "exploration" : "explorations"}
        </small>
      </td>
      <td>
        <Last sweep={s} now={now} />
      </td>
      <td>
        <Next sweep={s} now={now} />
      </td>
      <td>
        <code>{s.cron}</code>
      </td>
      <td>{s.owner ?? ""}</td>
    </tr>
  );
}

export function SweepTable({ sweeps, now }: { sweeps: readonly Sweep[]; now: number }) {
  return (
    <div className="card scroll-x">
      <table className="data explorations">
        <thead>
          <tr>
            <th scope="col">Sweep</th>
            <th scope="col">Last run</th>
            <th scope="col">Next run</th>
            <th scope="col">Schedule</th>
            <th scope="col">Owner</th>
          </tr>
        </thead>
        <tbody>
          {sweeps.map((s) => (
            <Row key={s.id} sweep={s} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
