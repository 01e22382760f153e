import type { Point } from "@/features/pareto/cloud";
import { type Shown, counterpart, errorOf } from "@/features/pareto/fidelity";
import { number, signedPercent, withUnit } from "@/lib/format";

const STATES = { running: "running", failed: "failed", refuted: "refuted", done: "" } as const;

interface Props {
  point: Point;
  shown: Shown;
  /** From where to where its simulated latency lies, as far as is known without it. */
  range: readonly [number, number] | null;
}

/** Two cells: the latency that is not shown elsewhere in the row, and how far the estimate is off. */
export function OtherLatency({ point, shown, range }: Props) {
  const error = errorOf(point);
  if (error === null) {
    return (
      <>
        <td className="num faint" title={point.simulation || !range ? undefined : "Where nine of ten simulations would be"}>
          {point.simulation ? STATES[point.simulation] : range ? `${number(range[0])} – ${withUnit(range[1], "us")}` : "–"}
        </td>
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
