import { useState } from "react";
import { ActionButton } from "@/components/ActionButton";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { useObjection } from "@/lib/access";
import type { FarmNode, NodeState } from "@/lib/api/farm";

interface Props {
  node: FarmNode;
  busy: boolean;
  onChange(to: NodeState | "forget"): void;
}

/** Drain, pause and resume; a node that is gone may be forgotten. */
export function NodeActions({ node, busy, onChange }: Props) {
  const [asking, setAsking] = useState(false);
  const objection = useObjection("admin");
  const button = (label: string, onClick: () => void) => (
    <ActionButton small objection={objection} busy={busy} onClick={onClick}>
      {label}
      <span className="sr-only"> {node.name}</span>
    </ActionButton>
  );
  const pause = () => (node.running ? setAsking(true) : onChange("paused"));
  return (
    <span className="node-actions">
      {!node.present && button("Forget", () => onChange("forget"))}
      {node.present && node.state === "active" && button("Drain", () => onChange("draining"))}
      {node.present && node.state !== "paused" && button("Pause", pause)}
      {node.state !== "active" && button("Resume", () => onChange("active"))}
      {asking && (
        <ConfirmDialog
          title={`Pause ${node.name}?`}
          confirm="Pause it"
          onConfirm={() => onChange("paused")}
          onClose={() => setAsking(false)}
        >
          {node.running === 1
            ? "The build that it runs is given back and starts again elsewhere. Drain lets it finish."
            : `The ${node.running} builds that it runs are given back and start again elsewhere. Drain lets them finish.`}
        </ConfirmDialog>
      )}
    </span>
  );
}
