import { ticks } from "@/lib/chart/ticks";
import { number } from "@/lib/format";

const COUNT = 8;

/** Cycles above the timeline; it stays in sight while the rows scroll. */
export function TimelineAxis({ cycles }: { cycles: number }) {
  const end = Math.max(1, cycles);
  return (
    <div className="timeline-axis num" aria-hidden="true">
      {ticks([0, end], false, COUNT)
        .filter((value) => value < 0.96 * end)
        .map((value) => (
          <span key={value} style={{ left: `${(100 * value) / end}%` }}>
            {number(value)}
          </span>
        ))}
    </div>
  );
}
