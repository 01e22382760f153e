import { FidelityBadge } from "@/components/badges";
import type { Flag } from "@/lib/api/types";

/** Values that no board can have: whatever computed them is wrong, so the design's other numbers are in doubt. */
export function Flags({ flags }: { flags: readonly Flag[] }) {
  if (!flags.length) return null;
  return (
    <div className="note note-warn" role="alert" data-testid="flags">
      <strong>{flags.length === 1 ? "An impossible value" : `${flags.length} impossible values`}</strong>
      <ul>
        {flags.map((f) => (
          <li key={`${f.metric} ${f.fidelity}`}>
            {f.text} <FidelityBadge fidelity={f.fidelity} />
          </li>
        ))}
      </ul>
    </div>
  );
}
