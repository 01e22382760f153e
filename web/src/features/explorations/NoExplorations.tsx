import { ActionButton } from "@/components/ActionButton";
import { Command } from "@/components/Command";
import type { Objection } from "@/lib/access";

export function NoExplorations({ objection, onNew }: { objection: Objection; onNew: () => void }) {
  return (
    <section className="card empty">
      <h2>No exploration yet</h2>
      <p>
        An exploration searches the designs of one network on one board and keeps the best trade-offs of latency and
        energy, or what else is to be small. Start one from a terminal:
      </p>
      <Command text="./millrace explore gpt2 --phase decode --context 64 --precision w4a8" />
      <p>or here:</p>
      <ActionButton kind="primary" objection={objection} onClick={onNew}>
        New exploration
      </ActionButton>
    </section>
  );
}
