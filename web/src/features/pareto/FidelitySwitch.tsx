import { Toggle } from "@/components/Toggle";
import type { Shown } from "@/features/pareto/fidelity";

/** Whether latencies are those of the estimate or of the simulator. */
export function FidelitySwitch({ shown, onShow }: { shown: Shown; onShow(shown: Shown): void }) {
  return (
    <div className="toggles" role="group" aria-label="Fidelity of the latency">
      <Toggle label="Estimate" on={shown === "estimate"} onChange={() => onShow("estimate")} />
      <Toggle label="Simulate" on={shown === "simulate"} onChange={() => onShow("simulate")} />
    </div>
  );
}
