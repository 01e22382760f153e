import type { Sweep } from "@/lib/api/sweeps";
import { workloadText } from "@/lib/workload";

/** What a sweep explores: every workload with every value of the other axes. */
export function Matrix({ sweep: { matrix: m, explorations } }: { sweep: Sweep }) {
  return (
    <section className="card panel" aria-label="Matrix">
      <h2>
        What it explores <span className="count">{explorations}</span>
      </h2>
      <ul className="matrix">
        {m.workloads.map((w) => (
          <li key={w.id}>
            <span className="strong">{w.model.name}</span> <span className="hint">{workloadText({ model: w.model, workload: w })}</span>
          </li>
        ))}
      </ul>
      <p className="hint">
        on {m.platforms.join(", ")} · seed {m.seeds.join(", ")} · {m.samplers.join(", ")}
      </p>
    </section>
  );
}
