import { Command } from "@/components/Command";

export function NoExplorations({ onNew }: { onNew: () => void }) {
  return (
    <section className="card empty">
      <h2>No exploration yet</h2>
      <p>
        An exploration searches the designs of one network on one board and keeps the best trade-offs of latency and
        energy. Start one from a terminal:
      </p>
      <Command text="./millrace explore gpt2 --phase decode --context 64 --precision w4a8" />
      <p>or here:</p>
      <button type="button" className="button primary" onClick={onNew}>
        New exploration
      </button>
    </section>
  );
}
