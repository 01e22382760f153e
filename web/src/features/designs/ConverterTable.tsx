import { type ConverterRow, totalOf } from "@/features/designs/dataflow";
import { number, withUnit } from "@/lib/format";

const SHOWN = 10;
const KINDS: Record<string, string> = {
  single: "fill, then drain",
  "ping-pong": "two boxes in turn",
  refill: "one box, refilled",
  circular: "ring",
};

/** The buffers that re-order streams between tasks: how each is built, and what it takes beside other rules. */
export function ConverterTable({ converters }: { converters: readonly ConverterRow[] }) {
  const hidden = converters.length - SHOWN;
  return (
    <section className="block" aria-label="Converters" data-testid="converters">
      <h2>
        Converters <span className="count">{number(converters.length)}</span>
      </h2>
      <div className="scroll-x">
        <table className="data compact">
          <thead>
            <tr>
              <th scope="col">Converter</th>
              <th scope="col" className="num" title="What is built">Built</th>
              <th scope="col" className="num" title="The least that re-orders the stream">Exact</th>
              <th scope="col" className="num" title="By the rule of the paper">Paper</th>
            </tr>
          </thead>
          <tbody>
            {converters.slice(0, SHOWN).map((c) => (
              <tr key={c.name}>
                <td className="wrap">
                  <code>{c.name}</code>
                  <small className="faint">{KINDS[c.realisation.kind] ?? c.realisation.kind}</small>
                </td>
                <td className="num">{withUnit(c.bytes, "bytes")}</td>
                <td className="num">{withUnit(c.exact_bytes, "bytes")}</td>
                <td className="num">{withUnit(c.paper_bytes, "bytes")}</td>
              </tr>
            ))}
            <tr className="total">
              <td className="wrap">{hidden > 0 ? `Total, with ${number(hidden)} smaller ones` : "Total"}</td>
              <td className="num">{withUnit(totalOf(converters, "bytes"), "bytes")}</td>
              <td className="num">{withUnit(totalOf(converters, "exact_bytes"), "bytes")}</td>
              <td className="num">{withUnit(totalOf(converters, "paper_bytes"), "bytes")}</td>
            </tr>
          </tbody>
        </table>
      </div>
    </section>
  );
}
