import type { HbmUse, Simulation } from "@/features/timing/simulation";
import { number, percent, rough, withUnit } from "@/lib/format";

const share = (part: number, whole: number) => (whole > 0 ? part / whole : 0);

/** The bar is as long as the bound of its channels, filled up to what it moves; all bars have one scale. */
function Bar({ use, most }: { use: HbmUse; most: number }) {
  const filled = share(use.gb_s, use.bound_gb_s);
  return (
    <span className={filled > 1 ? "bound-bar over" : "bound-bar"} style={{ width: `${100 * share(use.bound_gb_s, most)}%` }}>
      <i style={{ width: `${Math.min(100, 100 * filled)}%` }} />
    </span>
  );
}

/** What each load and store moves, against what its HBM channels could. */
export function HbmBlock({ simulation: { hbm } }: { simulation: Simulation }) {
  const uses = [...hbm].sort((a, b) => b.gb_s - a.gb_s);
  const most = Math.max(...uses.map((u) => u.bound_gb_s), 0);
  if (!uses.length) return null;
  return (
    <section className="block" aria-label="HBM" data-testid="hbm">
      <h2>
        HBM, GB/s of the bound <span className="count">{number(uses.length)}</span>
      </h2>
      <div className="scroll-y" tabIndex={0} role="region" aria-label="HBM use of loads and stores">
        <table className="pairs bars">
          <tbody>
            {uses.map((u) => (
              <tr key={u.task} title={`${withUnit(u.bytes, "bytes")} through ${number(u.channels)} channels`}>
                <th scope="row" className="wrap">
                  <code>{u.task}</code>
                </th>
                <td className="bar-cell">
                  <Bar use={u} most={most} />
                </td>
                <td className="num">
                  {rough(u.gb_s)} <span className="faint">/ {rough(u.bound_gb_s)}</span>
                </td>
                <td className="num">{percent(share(u.gb_s, u.bound_gb_s))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
