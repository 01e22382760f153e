import { Meter } from "@/components/Meter";
import { FidelityBadge } from "@/components/badges";
import { AREA, GROUPS, HBM_BANDWIDTH, REPLY, label, otherNames, shownUnit, strongest, valuesOf } from "@/features/designs/metrics";
import type { Design, Metric, Platform } from "@/lib/api/types";
import { estimateError } from "@/lib/estimate";
import { quantity, signedPercent } from "@/lib/format";

const source = (m: Metric) => `${m.tool} ${m.tool_version}${m.build_id ? `, build ${m.build_id}` : ""}`;

/** How far `first` is off `m`; null where it is no estimate of it. */
function errorOf(first: Metric | undefined, m: Metric): number | null {
  if (first?.fidelity !== "estimate" || m.fidelity === "estimate" || m.value === 0) return null;
  return estimateError(first.value, m.value);
}

/** One metric at every fidelity that is known; beside a better one how far the estimate is off it. */
function Rows({ name, metrics }: { name: string; metrics: readonly Metric[] }) {
  return valuesOf(metrics, name).map((m, i, all) => {
    const q = quantity(m.value, m.unit);
    const error = errorOf(all[0], m);
    return (
      <tr key={`${m.fidelity} ${m.build_id}`}>
        <th scope="row">{i === 0 ? label(name) : ""}</th>
        <td className="num">
          {error !== null && <small className="faint aside" title="Error of the estimate">estimate {signedPercent(error)}</small>}
          {q.text} <span className="unit">{shownUnit(q.unit)}</span>
        </td>
        <td className="badge-cell" title={source(m)}>
          <FidelityBadge fidelity={m.fidelity} />
        </td>
      </tr>
    );
  });
}

interface GroupProps {
  title: string;
  names: readonly string[];
  metrics: readonly Metric[];
  note?: string | null;
}

function Group({ title, names, metrics, note }: GroupProps) {
  const present = names.filter((name) => metrics.some((m) => m.name === name));
  if (!present.length) return null;
  return (
    <div className="group">
      <h3>{title}</h3>
      <table className="pairs">
        <tbody>
          {present.map((name) => (
            <Rows key={name} name={name} metrics={metrics} />
          ))}
        </tbody>
      </table>
      {note && <p className="hint">{note}</p>}
    </div>
  );
}

function Area({ metrics, platform }: { metrics: readonly Metric[]; platform: Platform | undefined }) {
  const rows = [...AREA, HBM_BANDWIDTH].map((name) => strongest(metrics, name)).filter((m) => m !== undefined);
  if (!rows.length) return null;
  const bounds: Record<string, number> = platform
    ? { [HBM_BANDWIDTH]: platform.hbm.channels * platform.hbm.channel_gb_s, ...platform.budgets }
    : {};
  return (
    <div className="group">
      <h3 title="The budget is the part less what its shell takes">
        Area and HBM {platform && <span className="faint">of the budget of {platform.title}</span>}
      </h3>
      {rows.map((m) => (
        <Meter key={m.name} label={label(m.name)} value={m.value} bound={bounds[m.name]}>
          <FidelityBadge fidelity={m.fidelity} />
        </Meter>
      ))}
    </div>
  );
}

export function MetricTables({ design: { metrics, assumed }, platform }: { design: Design; platform: Platform | undefined }) {
  const [latency, energy, ...rest] = GROUPS;
  return (
    <section className="block" aria-label="Metrics" data-testid="metrics">
      <h2>Metrics</h2>
      {latency && <Group {...latency} metrics={metrics} />}
      {energy && <Group {...energy} metrics={metrics} />}
      <Area metrics={metrics} platform={platform} />
      {rest.map((group) => (
        <Group key={group.title} {...group} metrics={metrics} note={group.title === REPLY && assumed ? `Assumed: ${assumed}` : null} />
      ))}
      <Group title="Other" names={otherNames(metrics)} metrics={metrics} />
    </section>
  );
}
