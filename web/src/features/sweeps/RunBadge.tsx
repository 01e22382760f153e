import type { Tone } from "@/components/badges";
import type { RunState, SlotComparison } from "@/lib/api/sweeps";

const TONE: Record<RunState | SlotComparison["result"], Tone> = {
  running: "busy",
  new: "neutral",
  same: "good",
  changed: "busy",
  regressed: "bad",
  failed: "bad",
  cancelled: "warn",
};

/** What a run came to. `accepted`: it is the baseline now, whatever it found. */
export function RunBadge({ state, accepted = false }: { state: keyof typeof TONE; accepted?: boolean }) {
  const tone = TONE[state];
  const dot = state === "running" ? "dot pulse" : state === "failed" ? "dot square" : "dot";
  return (
    <span className={`badge state tone-${tone}`}>
      <i className={dot} />
      {accepted ? `${state}, accepted` : state}
    </span>
  );
}
