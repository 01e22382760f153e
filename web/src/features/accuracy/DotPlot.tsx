import type { DesignError } from "@/features/accuracy/errors";
import { placeOf, stacks } from "@/features/accuracy/stacks";
import type { EstimateErrors } from "@/lib/api/types";
import { ticks } from "@/lib/chart/ticks";
import { number, signedPercent } from "@/lib/format";

const HEIGHT = 120;
const LOW = 60;
const LARGEST = 10;

interface Props {
  errors: readonly DesignError[];
  summary: EstimateErrors;
  front: ReadonlySet<string>;
  selected: string | null;
  onSelect(id: string): void;
}

const left = (share: number) => ({ left: `${100 * share}%` });

/** A dot a design over the error of its estimate. For the eye and the pointer; the table below it holds the same. */
export function DotPlot({ errors, summary, front, selected, onSelect }: Props) {
  const plot = stacks(errors);
  const size = Math.min(LARGEST, HEIGHT / Math.max(1, plot.tallest));
  const band = [placeOf(-summary.p95, plot), placeOf(summary.p95, plot)] as const;
  return (
    <div className="dot-plot" aria-hidden="true" data-testid="error-plot">
      <div className="dot-area" style={{ height: Math.max(LOW, plot.tallest * size + 14) }}>
        <i className="dot-band" style={{ ...left(band[0]), width: `${100 * (band[1] - band[0])}%` }} />
        <i className="dot-zero" style={left(placeOf(0, plot))} />
        <i className="dot-median" style={left(placeOf(summary.bias, plot))} />
        {plot.dots.map(({ error, x, level }) => (
          <button
            key={error.id}
            type="button"
            tabIndex={-1}
            className={`${front.has(error.id) ? "error-dot" : "error-dot beside"}${error.id === selected ? " selected" : ""}`}
            style={{ ...left(x), bottom: level * size, width: size, height: size }}
            title={`Design ${number(error.number)}: ${signedPercent(error.error)}`}
            onClick={() => onSelect(error.id)}
          />
        ))}
      </div>
      <div className="dot-axis num">
        {ticks([plot.low, plot.high], false, 8).map((value) => (
          <span key={value} style={left(placeOf(value, plot))}>
            {signedPercent(value)}
          </span>
        ))}
      </div>
    </div>
  );
}
