import { type Cut, type Fusion, shortfallText } from "@/features/designs/dataflow";
import { number, withUnit } from "@/lib/format";

const SHOWN = 6;

/** Bytes through HBM under other plans, as bars of one scale. */
function Traffic({ fusion: f }: { fusion: Fusion }) {
  const rows: [string, number, string][] = [
    ["This design", f.external_bytes, "Bytes that it loads and stores"],
    ["Greedy plan", f.greedy_bytes, "The plan of the paper under the same fusion budget"],
    ["One kernel", f.fused_bytes, "If everything stayed on chip"],
  ];
  const most = Math.max(...rows.map(([, bytes]) => bytes), 1);
  return (
    <table className="pairs bars">
      <tbody>
        {rows.map(([name, bytes, meaning]) => (
          <tr key={name} title={meaning}>
            <th scope="row">{name}</th>
            <td className="bar-cell">
              <span className="stack" aria-hidden="true">
                <i className="die-0" style={{ width: `${(100 * bytes) / most}%` }} />
              </span>
            </td>
            <td className="num">{withUnit(bytes, "bytes")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function CutRow({ cut }: { cut: Cut }) {
  const why = cut.reason ? shortfallText(cut.reason) : "only the plan cuts it here";
  return (
    <tr>
      <td className="wrap">
        <code>{cut.value}</code>
        <small>{why}</small>
        <small className="faint">try {cut.levers.join(", or ")}</small>
      </td>
      <td className="num">
        {cut.source} → {cut.targets.join(", ")}
      </td>
      <td className="num">{withUnit(cut.bytes, "bytes")}</td>
    </tr>
  );
}

/** Into which kernels the design is cut, and what kept values from staying on chip. */
export function FusionBlock({ fusion }: { fusion: Fusion }) {
  const hidden = fusion.cuts.length - SHOWN;
  return (
    <section className="block" aria-label="Kernels and fusion" data-testid="fusion">
      <h2>
        Kernels and fusion <span className="count">{number(fusion.kernels)}</span>
      </h2>
      <Traffic fusion={fusion} />
      {!fusion.cuts.length && <p className="hint">Every intermediate value stays on chip.</p>}
      {fusion.cuts.length > 0 && (
        <table className="data compact">
          <thead>
            <tr>
              <th scope="col">Value through HBM, and why</th>
              <th scope="col" className="num">Kernels</th>
              <th scope="col" className="num">Moved</th>
            </tr>
          </thead>
          <tbody>
            {fusion.cuts.slice(0, SHOWN).map((cut) => (
              <CutRow key={cut.value} cut={cut} />
            ))}
          </tbody>
        </table>
      )}
      {hidden > 0 && <p className="hint">and {number(hidden)} more, smaller ones, in dataflow.json</p>}
    </section>
  );
}
