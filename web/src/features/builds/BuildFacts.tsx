import type { ReactNode } from "react";
import type { Build } from "@/lib/api/types";
import { duration, number } from "@/lib/format";
import { Link } from "@/lib/router";

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{children}</td>
    </tr>
  );
}

function shown(value: unknown): ReactNode {
  if (typeof value === "number") return number(value);
  return typeof value === "object" ? <code>{JSON.stringify(value)}</code> : String(value);
}

function Pairs({ title, values }: { title: string; values: Record<string, unknown> }) {
  const entries = Object.entries(values).filter(([, value]) => value !== null);
  if (!entries.length) return null;
  return (
    <div className="group">
      <h3>{title}</h3>
      <table className="pairs">
        <tbody>
          {entries.map(([name, value]) => (
            <Fact key={name} name={name.replaceAll("_", " ")}>
              {shown(value)}
            </Fact>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A verdict's plain values and notes; tables of it are shown with the design. */
function Verdict({ verdict }: { verdict: Record<string, unknown> }) {
  const { notes, passed, ...rest } = verdict;
  const plain = Object.fromEntries(Object.entries(rest).filter(([, v]) => typeof v !== "object" && v !== ""));
  return (
    <>
      <Pairs title="Verdict" values={{ ...(passed === undefined ? {} : { passed: passed ? "yes" : "no" }), ...plain }} />
      {Array.isArray(notes) && notes.length > 0 && (
        <ul className="notes">
          {notes.map((text) => (
            <li key={String(text)}>{String(text)}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** What it was asked to do, with what, and what it asks of a node. */
export function BuildFacts({ build: b }: { build: Build }) {
  return (
    <section className="card panel" aria-label="Facts" data-testid="facts">
      <h2>Facts</h2>
      <table className="pairs">
        <tbody>
          <Fact name="Queue">
            <Link href={`/builds?queue=${encodeURIComponent(b.queue)}`}>
              <code>{b.queue}</code>
            </Link>
          </Fact>
          {b.after && (
            <Fact name="Reads from">
              <Link href={`/builds/${b.after}`}>{b.after}</Link>
            </Fact>
          )}
          {b.adopted_from && (
            <Fact name="Results of">
              <Link href={`/builds/${b.adopted_from}`}>{b.adopted_from}</Link>
            </Fact>
          )}
          {b.licence && <Fact name="Licence">{b.licence}</Fact>}
          <Fact name="Asks for">
            {number(b.cpus)} {b.cpus === 1 ? "CPU" : "CPUs"}, {number(b.memory_gb)} GB
          </Fact>
          {b.timeout_s !== null && <Fact name="Time limit">{duration(b.timeout_s)}</Fact>}
          {b.losses > 0 && <Fact name="Nodes lost">{b.losses}</Fact>}
          {b.owner && <Fact name="Started by">{b.owner}</Fact>}
        </tbody>
      </table>
      <Pairs title="Options" values={b.options} />
      <Pairs title="Tools" values={b.tool_versions} />
      {b.verdict && <Verdict verdict={b.verdict} />}
    </section>
  );
}
