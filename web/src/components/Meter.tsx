import type { ReactNode } from "react";
import { number, percent } from "@/lib/format";

interface Props {
  label: string;
  value: number;
  bound: number | undefined;
  children?: ReactNode;
}

/** Use of one budget: a bar that turns red, and stays full, beyond it. */
export function Meter({ label, value, bound, children }: Props) {
  const share = bound ? value / bound : 0;
  const tone = share > 1 ? "over" : share > 0.8 ? "high" : "";
  return (
    <div className="meter">
      <span className="meter-label">{label}</span>
      <span className="meter-value num">
        {number(value)}
        {bound !== undefined && <span className="faint"> / {number(bound)}</span>}
      </span>
      <span className={`meter-share num ${tone}`}>{bound ? percent(share) : ""}</span>
      <span className="meter-badge">{children}</span>
      <span
        className={`meter-bar ${tone}`}
        role="meter"
        aria-label={`${label}, share of the budget`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, Math.round(share * 100))}
      >
        <i style={{ width: `${Math.min(100, share * 100)}%` }} />
      </span>
    </div>
  );
}
