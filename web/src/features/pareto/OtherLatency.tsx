import type { Point } from "@/features/pareto/cloud";
import { type Shown, counterpart, errorOf } from "@/features/pareto/fidelity";
import { signedPercent, withUnit } from "@/lib/format";

const STATES = { running: "running", failed: "failed", deadlock: "deadlock", done: "" } as const;

/** Two cells: the latency that is not shown elsewhere in the row, and how far the estimate is off. */
export function OtherLatency({ point, shown }: { point: Point; shown: Shown }) {
  const error = errorOf(point);
  if (error === null) {
    return (
      <>
        <td className="num faint">{point.simulation ? STATES[point.simulation] : "–"}</td>
        <td />
      </>
    );
  }
  return (
    <>
      <td className="num">{withUnit(counterpart(point, shown), "us")}</td>
      <td className="num faint">{signedPercent(error)}</td>
    </>
  );
}
