import type { ReactNode } from "react";
import type { BuildState, CsimState, ExplorationState, Fidelity } from "@/lib/api/types";

const FIDELITY_MEANING: Record<Fidelity, string> = {
  estimate: "Computed by the analytical model, without simulating",
  simulate: "Measured in the cycle simulator",
  csynth: "Reported by Vitis HLS synthesis",
  cosim: "Measured in RTL co-simulation",
  link: "Of the placed and routed design, reported by Vivado and v++",
  board: "Measured on the board",
};

export function FidelityBadge({ fidelity }: { fidelity: Fidelity }) {
  return (
    <span className={`badge fidelity fidelity-${fidelity}`} title={FIDELITY_MEANING[fidelity]}>
      {fidelity}
    </span>
  );
}

export type Tone = "neutral" | "busy" | "good" | "bad" | "warn" | "accent" | "knee";

export function Tag({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`badge tone-${tone}`}>{children}</span>;
}

const EXPLORATION_TONE: Record<ExplorationState, Tone> = {
  queued: "neutral",
  lowering: "busy",
  searching: "busy",
  simulating: "busy",
  verifying: "busy",
  building: "busy",
  done: "good",
  failed: "bad",
  cancelled: "warn",
};

export function StateBadge({ state }: { state: ExplorationState }) {
  const tone = EXPLORATION_TONE[state];
  return (
    <span className={`badge state tone-${tone}`} data-testid="state">
      <i className={tone === "busy" ? "dot pulse" : "dot"} />
      {state}
    </span>
  );
}

const BUILD_TONE: Record<BuildState, Tone> = {
  blocked: "neutral",
  queued: "neutral",
  running: "busy",
  done: "good",
  failed: "bad",
  cancelled: "warn",
};

export function BuildBadge({ state }: { state: BuildState }) {
  const tone = BUILD_TONE[state];
  return (
    <span className={`badge state tone-${tone}`}>
      <i className={tone === "busy" ? "dot pulse" : "dot"} />
      {state}
    </span>
  );
}

const CSIM: Record<CsimState, [Tone, string]> = {
  passed: ["good", "✓ passed"],
  failed: ["bad", "✕ failed"],
  running: ["busy", "… running"],
};

export function CsimBadge({ state }: { state: CsimState | null }) {
  if (!state) return <span className="faint">not run</span>;
  const [tone, text] = CSIM[state];
  return <Tag tone={tone}>{text}</Tag>;
}
