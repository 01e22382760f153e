import { percent, rough } from "@/lib/format";

interface Props {
  label: string;
  used: number;
  total: number;
  unit?: string;
}

/** How much of something is in use: what is full is busy, not wrong. */
export function LoadBar({ label, used, total, unit = "" }: Props) {
  const share = total > 0 ? Math.min(1, used / total) : 0;
  const text = `${rough(used)} / ${rough(total)}${unit && ` ${unit}`}`;
  return (
    <div className="load">
      <span className="load-label">{label}</span>
      <span className="num">{text}</span>
      <span
        className={share >= 1 ? "load-bar full" : "load-bar"}
        role="meter"
        aria-label={`${label} in use`}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={Math.min(used, total)}
        aria-valuetext={`${text}, ${percent(share)}`}
      >
        <i style={{ width: `${share * 100}%` }} />
      </span>
    </div>
  );
}
