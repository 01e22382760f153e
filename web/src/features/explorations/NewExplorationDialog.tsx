import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { ErrorNote } from "@/components/ErrorNote";
import { ObjectiveFields, toObjectives } from "@/components/ObjectiveFields";
import { type FarmChoices, FarmFields, toFarm } from "@/features/explorations/FarmFields";
import { BOUNDS } from "@/features/explorations/bounds";
import { toTags } from "@/features/explorations/tags";
import { useCreateExploration } from "@/features/explorations/api/createExploration";
import { newKey } from "@/lib/api/http";
import type { Model, NewExploration, Phase, Platform, Ports, Precision, Sampler } from "@/lib/api/types";
import { number } from "@/lib/format";
import { navigate } from "@/lib/router";
import { isFile, lengthName } from "@/lib/workload";

interface Props {
  models: Model[];
  platforms: Platform[];
  farm: FarmChoices;
  error: Error | null;
  /** What stores a new model; it tells which, and that one is chosen. */
  upload(onStored: (model: Model) => void): ReactNode;
  onClose(): void;
}

const PHASES: [Phase, string][] = [
  ["decode", "decode: one token after a context"],
  ["prefill", "prefill: a whole sequence"],
  ["step", "step: one token, at the position that a launch is told"],
  ["head", "head: final norm, vocabulary, token"],
  ["token", "token: a step from the id of a token to the id of the next, head and all"],
];
const PRECISIONS: [Precision, string][] = [
  ["w4a8", "w4a8: int4 weights × int8"],
  ["w4a8kv8", "w4a8kv8: w4a8, and int8 keys and values"],
  ["w8a8", "w8a8: int8 weights × int8"],
  ["w8a8kv8", "w8a8kv8: w8a8, and int8 keys and values"],
  ["f32", "f32"],
];
const INTEGERS = new Set<Precision>(["w8a8", "w4a8"]);
const ORIGINS: [string, (kind: string) => boolean][] = [
  ["Built in", (kind) => kind === "builtin"],
  ["From a config.json", (kind) => kind === "config"],
  ["Whole networks from files", isFile],
];
const SAMPLERS: [Sampler, string][] = [
  ["front", "moves of the front"],
  ["nsga2", "NSGA-II"],
  ["tpe", "TPE"],
  ["qmc", "quasi-Monte Carlo"],
  ["random", "random"],
];

/** Shapes of a network from a file are its own: the service refuses others. */
function toWorkload(form: FormData, model: Model | undefined): NewExploration["workload"] {
  const precision = String(form.get("precision")) as Precision;
  if (model && isFile(model.kind)) return { precision, ports: (form.get("ports") ?? "f32") as Ports };
  const phase = String(form.get("phase")) as Phase;
  if (phase === "head") return { phase, precision };
  return { phase, length: Number(form.get("length")), precision, batch: 1, layers: 1 };
}

function toBody(form: FormData, model: Model | undefined): NewExploration {
  const text = (name: string) => String(form.get(name));
  const amount = (name: string) => Number(form.get(name));
  return {
    model: text("model"),
    name: text("name") || null,
    tags: toTags(text("tags")),
    notes: text("notes"),
    require_nodes: form.has("require_nodes"),
    workload: toWorkload(form, model),
    platform: text("platform"),
    budget: amount("budget"),
    seed: amount("seed"),
    sampler: text("sampler") as Sampler,
    islands: amount("islands"),
    objectives: toObjectives(form),
    at_most: Object.fromEntries(BOUNDS.filter(({ name }) => text(`most_${name}`)).map(({ name }) => [name, amount(`most_${name}`)])),
    simulate: amount("simulate"),
    calibration: amount("calibration"),
    verify: amount("verify"),
    ...toFarm(form),
  };
}

/** The models by where they come from. */
function ModelOptions({ models }: { models: Model[] }) {
  return ORIGINS.map(([origin, isOfIt]) => {
    const members = models.filter((m) => isOfIt(m.kind));
    if (!members.length) return null;
    return (
      <optgroup key={origin} label={origin}>
        {members.map((m) => (
          <option key={m.id} value={m.name}>
            {isFile(m.kind) ? `${m.name} (.${m.kind})` : m.name}
          </option>
        ))}
      </optgroup>
    );
  });
}

export function NewExplorationDialog({ models, platforms, farm, error, upload, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const sent = useRef({ text: "", key: "" });
  const [phase, setPhase] = useState<Phase>("decode");
  const [picked, setPicked] = useState("");
  const model = models.find((m) => m.name === picked) ?? models[0];
  const whole = model !== undefined && isFile(model.kind);
  const [chosen, setChosen] = useState({ whole, precision: "f32" as Precision });
  const inIntegers = whole && chosen.whole && INTEGERS.has(chosen.precision);
  const create = useCreateExploration();

  useEffect(() => dialog.current?.showModal(), []);

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = toBody(new FormData(event.currentTarget), model);
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
            <select name="model" required value={model?.name ?? ""} onChange={(e) => setPicked(e.target.value)}>
              <ModelOptions models={models} />
            </select>
          </label>
          <label className="wide">
            Name
            <input name="name" maxLength={100} pattern="[A-Za-z0-9][A-Za-z0-9._+\-]*" placeholder="from model and workload" />
          </label>
          <label>
            Tags
            <input name="tags" placeholder="words to find it by" />
          </label>
          <label>
            Notes
            <input name="notes" maxLength={10000} />
          </label>
          {upload((stored) => setPicked(stored.name))}
          {!whole && (
            <>
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
              {phase !== "head" && (
                <label>
                  {lengthName(phase) === "context" ? "Context length" : "Sequence length"}
                  <input
                    name="length"
                    type="number"
                    min={phase === "prefill" ? 1 : 2}
                    max={8192}
                    defaultValue={64}
                    required
                  />
                </label>
              )}
            </>
          )}
          <label className={whole ? "wide" : ""}>
            Precision
            <select
              name="precision"
              key={String(whole)}
              defaultValue={whole ? "f32" : "w4a8"}
              onChange={(e) => setChosen({ whole, precision: e.target.value as Precision })}
            >
              {PRECISIONS.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          {inIntegers && (
            <label className="wide" title="Of the design: integers in steps that design.json names, or f32">
              Inputs and results
              <select name="ports">
                <option value="f32">f32</option>
                <option value="i8">int8, in steps that the design names</option>
              </select>
            </label>
          )}
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
          <label title="Searches side by side that share the budget, on as many nodes as are free">
            Islands
            <input name="islands" type="number" min={1} max={64} defaultValue={1} required />
          </label>
          <ObjectiveFields phase={phase} />
          <details className="wide">
            <summary>At most</summary>
            <div className="fields">
              {BOUNDS.map(({ name, label, unit, most, step }) => (
                <label key={name}>
                  {unit ? `${label}, ${unit}` : label}
                  <input name={`most_${name}`} type="number" min={step === "any" ? 0 : step} max={most} step={step} placeholder="no bound" />
                </label>
              ))}
            </div>
          </details>
          <label title="Designs of the front that are compiled and run in the cycle simulator, at most">
            Simulate, designs
            <input name="simulate" type="number" min={0} max={256} defaultValue={32} required />
          </label>
          <label title="Feasible designs beside the front, drawn by the seed, that are simulated too: they show how far estimates are off there">
            Calibration, designs
            <input name="calibration" type="number" min={0} max={64} defaultValue={4} required />
          </label>
          <label title="Designs of the front that are compiled, C-simulated and compared with the reference">
            Verify, designs
            <input name="verify" type="number" min={0} max={32} defaultValue={3} required />
          </label>
          <FarmFields {...farm} />
          <label className="wide check">
            <input name="require_nodes" type="checkbox" /> Refuse it where no node of the farm would run a stage
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
