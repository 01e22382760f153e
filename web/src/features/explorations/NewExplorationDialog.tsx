import { type FormEvent, useEffect, useRef, useState } from "react";
import { ErrorNote } from "@/components/ErrorNote";
import { useCreateExploration } from "@/features/explorations/api/createExploration";
import { newKey } from "@/lib/api/http";
import type { Model, NewExploration, Phase, Platform, Precision, Sampler } from "@/lib/api/types";
import { number } from "@/lib/format";
import { navigate } from "@/lib/router";
import { lengthName } from "@/lib/workload";

interface Props {
  models: Model[];
  platforms: Platform[];
  error: Error | null;
  onClose(): void;
}

const PHASES: [Phase, string][] = [
  ["decode", "decode: one token after a context"],
  ["prefill", "prefill: a whole sequence"],
];
const PRECISIONS: [Precision, string][] = [
  ["w4a8", "w4a8: int4 weights × int8"],
  ["w8a8", "w8a8: int8 weights × int8"],
  ["f32", "f32"],
];
const SAMPLERS: [Sampler, string][] = [
  ["nsga2", "NSGA-II"],
  ["tpe", "TPE"],
  ["qmc", "quasi-Monte Carlo"],
  ["random", "random"],
];

function toBody(form: FormData): NewExploration {
  const text = (name: string) => String(form.get(name));
  const integer = (name: string) => Number(form.get(name));
  return {
    model: text("model"),
    workload: {
      phase: text("phase") as Phase,
      length: integer("length"),
      precision: text("precision") as Precision,
      batch: 1,
      layers: 1,
    },
    platform: text("platform"),
    budget: integer("budget"),
    seed: integer("seed"),
    sampler: text("sampler") as Sampler,
    verify: integer("verify"),
  };
}

export function NewExplorationDialog({ models, platforms, error, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const sent = useRef({ text: "", key: "" });
  const [phase, setPhase] = useState<Phase>("decode");
  const create = useCreateExploration();

  useEffect(() => dialog.current?.showModal(), []);

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = toBody(new FormData(event.currentTarget));
    const text = JSON.stringify(body);
    // The same request again (a second click, a retry after a lost answer) must not start a second exploration.
    if (sent.current.text !== text) sent.current = { text, key: newKey() };
    create.mutate({ body, key: sent.current.key }, { onSuccess: ({ id }) => navigate(`/explorations/${id}`) });
  };

  return (
    <dialog ref={dialog} className="dialog" onClose={onClose} aria-labelledby="new-title">
      <form onSubmit={submit}>
        <h2 id="new-title">New exploration</h2>
        <div className="fields">
          <label className="wide">
            Model
            <select name="model" required key={models.length}>
              {models.map((m) => (
                <option key={m.id} value={m.name}>
                  {m.name}
                </option>
              ))}
            </select>
          </label>
          <label className="wide">
            Phase
            <select name="phase" value={phase} onChange={(e) => setPhase(e.target.value as Phase)}>
              {PHASES.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <label>
            {lengthName(phase) === "context" ? "Context length" : "Sequence length"}
            <input name="length" type="number" min={phase === "decode" ? 2 : 1} max={8192} defaultValue={64} required />
          </label>
          <label>
            Precision
            <select name="precision">
              {PRECISIONS.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <label className="wide">
            Platform
            <select name="platform" required key={platforms.length}>
              {platforms.map((p) => (
                <option key={p.name} value={p.name}>
                  {p.title} ({number(p.clock_mhz)} MHz)
                </option>
              ))}
            </select>
          </label>
          <label>
            Budget, designs
            <input name="budget" type="number" min={1} max={1000000} defaultValue={200} required />
          </label>
          <label>
            Sampler
            <select name="sampler">
              {SAMPLERS.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <label>
            Seed
            <input name="seed" type="number" min={0} max={2147483647} defaultValue={0} required />
          </label>
          <label title="Designs of the front that are compiled, C-simulated and compared with PyTorch">
            Verify, designs
            <input name="verify" type="number" min={0} max={32} defaultValue={3} required />
          </label>
        </div>
        {error && <ErrorNote error={error} />}
        {create.error && <ErrorNote error={create.error} />}
        <div className="actions">
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
          <button type="submit" className="button primary" disabled={create.isPending || !models.length}>
            {create.isPending ? "Starting…" : "Start exploration"}
          </button>
        </div>
      </form>
    </dialog>
  );
}
