import { ErrorNote } from "@/components/ErrorNote";
import { ActionButton } from "@/components/ActionButton";
import { BuildBadge, Tag } from "@/components/badges";
import { useStartStage } from "@/features/designs/api/startStage";
import { useObjection } from "@/lib/access";
import { isOpen } from "@/lib/states";
import type { Build, Design, TaskCheck, Verdict } from "@/lib/api/types";
import { duration, number, scientific } from "@/lib/format";

const AGAINST = { local: "its operation", global: "the network" };

/** How close each kind of task came to what it should give. */
function TaskChecks({ checks }: { checks: TaskCheck[] }) {
  return (
    <details>
      <summary>How the tasks were checked</summary>
      <div className="scroll-x">
        <table className="data compact">
          <thead>
            <tr>
              <th scope="col">Tasks</th>
              <th scope="col">Compared with</th>
              <th scope="col" className="num">How many</th>
              <th scope="col" className="num">Elements</th>
              <th scope="col" className="num">Wrong</th>
              <th scope="col" className="num" title="Largest difference as a share of what rounding allows">Difference</th>
            </tr>
          </thead>
          <tbody>
            {checks.map((c) => (
              <tr key={`${c.scope} ${c.kind}`}>
                <td>{c.kind}</td>
                <td>{AGAINST[c.scope]}</td>
                <td className="num">{number(c.tasks)}</td>
                <td className="num">{number(c.elements)}</td>
                <td className={c.wrong ? "num bad" : "num"}>{number(c.wrong)}</td>
                <td className="num">{c.used ? `${Math.round(100 * c.used)} %` : "none"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function Details({ verdict: v }: { verdict: Verdict }) {
  return (
    <>
      <p className="verdict-line">
        <Tag tone={v.passed ? "good" : "bad"}>{v.passed ? "✓ passed" : "✕ failed"}</Tag>
        <span>
          The emitted C++ {v.passed ? "agrees with" : "differs from"} {v.reference ?? "PyTorch"}
        </span>
      </p>
      {v.message && <p className="hint pre">{v.message}</p>}
      <div className="scroll-x">
        <table className="data compact">
          <thead>
            <tr>
              <th scope="col">Output</th>
              <th scope="col" className="num" title="Largest absolute error">Max abs</th>
              <th scope="col" className="num" title="Largest relative error">Max rel</th>
              <th scope="col" className="num">Tolerance</th>
              <th scope="col">
                <span className="sr-only">Verdict</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {v.outputs.map((o) => (
              <tr key={o.name}>
                <td>
                  <code>{o.name}</code>
                </td>
                <td className="num">{scientific(o.max_abs_error)}</td>
                <td className="num">{scientific(o.max_rel_error)}</td>
                <td className="num">{scientific(o.tolerance)}</td>
                <td className={o.passed ? "good" : "bad"}>{o.passed ? "✓" : "✕"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="hint">
        {v.passed && v.tasks ? "proven, " : "checked: "}
        {number(v.tasks_checked)}
        {v.tasks ? ` of ${number(v.tasks)}` : ""} tasks · {duration(v.seconds)}
      </p>
      {v.checks && v.checks.length > 0 && <TaskChecks checks={v.checks} />}
    </>
  );
}

/** The last C simulation; a build that ended without a verdict is told from one that compared and failed. */
function Outcome({ build }: { build: Build }) {
  if (build.verdict) return <Details verdict={build.verdict as unknown as Verdict} />;
  if (isOpen(build.state)) {
    return (
      <p className="verdict-line" data-testid="csim-running">
        <BuildBadge state={build.state} />
        <span>Compiling the design, building it with g++ and comparing it with the reference.</span>
      </p>
    );
  }
  return (
    <div className="note note-bad">
      <strong>No verdict: the build {build.state === "cancelled" ? "was cancelled" : "failed"}</strong>
      {build.error && <p className="pre">{build.error}</p>}
    </div>
  );
}

/** C simulation of the design against its reference: the verdict, or the way to get one. */
export function VerdictBlock({ design }: { design: Design }) {
  const start = useStartStage(design.id);
  const objection = useObjection("user");
  const build = design.builds.filter((b) => b.stage === "csim").sort((a, b) => (a.created_at < b.created_at ? 1 : -1))[0];
  const reference = typeof build?.verdict?.["reference"] === "string" ? build.verdict["reference"] : "the reference";
  const canStart = !build || (!build.verdict && (build.state === "failed" || build.state === "cancelled"));
  return (
    <section className="block" aria-label="C simulation" data-testid="verdict">
      <h2>C simulation against {reference}</h2>
      {build && <Outcome build={build} />}
      {canStart && (
        <div className="verdict-start">
          <ActionButton kind="primary" objection={objection} busy={start.isPending} onClick={() => start.mutate({ stage: "csim" })}>
            {build ? "Run C simulation again" : "Run C simulation"}
          </ActionButton>
          {!build && <span className="hint">Emits the design and compares every output with the reference.</span>}
        </div>
      )}
      {build?.verdict?.["passed"] === true && build.options["proof"] !== "whole" && (
        <ActionButton objection={objection} busy={start.isPending} onClick={() => start.mutate({ stage: "csim", proof: "whole" })}>
          Prove on more inputs
        </ActionButton>
      )}
      {start.error && <ErrorNote error={start.error} />}
    </section>
  );
}
