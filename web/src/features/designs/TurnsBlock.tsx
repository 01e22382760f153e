import type { DataflowStream, EngineRow } from "@/features/designs/dataflow";
import { number, withUnit } from "@/lib/format";

/** What takes turns at the same lanes, and the FIFOs by which later work comes back to earlier tasks. */
export function TurnsBlock({ engines, loops }: { engines: readonly EngineRow[]; loops: readonly DataflowStream[] }) {
  return (
    <section className="block" aria-label="Turns" data-testid="turns">
      <h2>
        Turns <span className="count">{number(engines.length)}</span>
      </h2>
      {engines.length > 0 && <EngineTable engines={engines} />}
      {loops.length > 0 && <LoopTable loops={loops} />}
    </section>
  );
}

function EngineTable({ engines }: { engines: readonly EngineRow[] }) {
  return (
    <div className="scroll-x">
      <table className="data compact">
        <thead>
          <tr>
            <th scope="col">Engine</th>
            <th scope="col" title="In the order of their turns">Operation</th>
            <th scope="col" className="num" title="Of the pipelined loop, in this turn">Iterations</th>
          </tr>
        </thead>
        <tbody>
          {engines.flatMap(({ name, slices, turns }) =>
            turns.map(({ op, iterations }, turn) => (
              <tr key={`${name} ${op}`}>
                <td className="wrap">
                  {turn === 0 && <code>{name}</code>}
                  {turn === 0 && slices > 1 && <small className="faint">{number(slices)} equal slices</small>}
                </td>
                <td className="wrap"><code>{op}</code></td>
                <td className="num">{number(iterations)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </div>
  );
}

function LoopTable({ loops }: { loops: readonly DataflowStream[] }) {
  return (
    <div className="scroll-x">
      <table className="data compact">
        <thead>
          <tr>
            <th scope="col" title="It leads back to a task that comes earlier, or begins with tokens">Stream</th>
            <th scope="col" className="num" title="Tokens that its FIFO holds">Depth</th>
            <th scope="col" className="num" title="Tokens in it when a launch begins">At first</th>
            <th scope="col" className="num">Token</th>
          </tr>
        </thead>
        <tbody>
          {loops.map((s) => (
            <tr key={s.name}>
              <td className="wrap">
                <code>{s.name}</code>
                <small className="faint">
                  {s.source} {s.feedback ? "back to" : "to"} {s.target}
                </small>
              </td>
              <td className="num">{number(s.depth)}</td>
              <td className="num">{number(s.initial ?? 0)}</td>
              <td className="num">{withUnit(s.width, "bit")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
