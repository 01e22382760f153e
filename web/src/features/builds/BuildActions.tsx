import { type ReactNode, useState } from "react";
import { ActionButton } from "@/components/ActionButton";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { ErrorNote } from "@/components/ErrorNote";
import { CloneDialog, canClone } from "@/features/builds/CloneDialog";
import { useChangeBuild } from "@/features/builds/api/changeBuild";
import { useObjection } from "@/lib/access";
import type { Build } from "@/lib/api/types";
import { isOpen } from "@/lib/states";

interface Props {
  build: Build;
  /** How long it runs, in words. */
  running: string;
  vitis: readonly string[];
  boards: readonly string[];
}

/** Retry, cancel, clone; what destroys work asks first. */
export function BuildActions({ build: b, running, vitis, boards }: Props) {
  const [asking, setAsking] = useState<"cancel" | "clone" | null>(null);
  const change = useChangeBuild(b.id);
  const objection = useObjection("user", b.owner || null);
  const close = () => setAsking(null);
  const cancel = () => (b.state === "running" ? setAsking("cancel") : change.mutate("cancel"));
  const button = (label: string, onClick: () => void, kind?: "primary"): ReactNode => (
    <ActionButton kind={kind} objection={objection} busy={change.isPending} onClick={onClick}>
      {label}
    </ActionButton>
  );
  return (
    <>
      {isOpen(b.state) && button("Cancel", cancel)}
      {canClone(b) && button("Clone", () => setAsking("clone"))}
      {(b.state === "failed" || b.state === "cancelled") && button("Retry", () => change.mutate("retry"), "primary")}
      {change.error && <ErrorNote error={change.error} />}
      {asking === "cancel" && (
        <ConfirmDialog title={`Cancel this ${b.stage}?`} confirm="Cancel the build" onConfirm={() => change.mutate("cancel")} onClose={close}>
          It runs for {running}, and that work is lost. Builds that wait for it are cancelled too.
        </ConfirmDialog>
      )}
      {asking === "clone" && <CloneDialog build={b} vitis={vitis} boards={boards} onClose={close} />}
    </>
  );
}
