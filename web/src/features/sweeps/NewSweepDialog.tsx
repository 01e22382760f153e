import { type FormEvent, useEffect, useRef } from "react";
import { ErrorNote } from "@/components/ErrorNote";
import { ObjectiveFields, toObjectives } from "@/components/ObjectiveFields";
import { useAddSweep } from "@/features/sweeps/api/addSweep";
import { newKey } from "@/lib/api/http";
import type { NewSweep } from "@/lib/api/sweeps";
import type { Model, Phase, Platform, Precision } from "@/lib/api/types";
import { navigate } from "@/lib/router";
import { isFile } from "@/lib/workload";

interface Props {
  models: Model[];
  platforms: Platform[];
  error: Error | null;
  onClose(): void;
}

const PHASES: Phase[] = ["decode", "prefill", "step", "token", "head"];
const PRECISIONS: Precision[] = ["w4a8", "w4a8kv8", "w8a8", "w8a8kv8", "f32"];
const BY_HAND = "0 3 * * *"; // of a sweep without a schedule: stored, but it never fires

const numbers = (form: FormData, name: string) =>
  String(form.get(name) ?? "").split(/[\s,]+/).filter(Boolean).map(Number);

/** Axes that do not apply to whole networks from files are left out where only such are chosen. */
function toBody(form: FormData, models: Model[]): NewSweep {
  const chosen = form.getAll("models").map(String);
  const whole = chosen.every((name) => models.some((m) => m.name === name && isFile(m.kind)));
  const cron = String(form.get("cron")).trim();
  const shapes = {
    phases: form.getAll("phases") as Phase[],
    lengths: numbers(form, "lengths"),
    precisions: form.getAll("precisions") as Precision[],
  };
  return {
    name: String(form.get("name")),
    cron: cron || BY_HAND,
    zone: String(form.get("zone")),
    enabled: cron !== "",
    matrix: {
      models: chosen,
      ...(whole ? {} : shapes),
      platforms: form.getAll("platforms").map(String),
      seeds: numbers(form, "seeds"),
    },
    options: {
      budget: Number(form.get("budget")),
      objectives: toObjectives(form),
      verify: Number(form.get("verify")),
      tolerance: Number(form.get("tolerance")) / 100,
    },
  };
}

function Choices({ legend, name, values, first }: { legend: string; name: string; values: string[]; first: boolean }) {
  return (
    <label className="half">
      {legend}
      <select name={name} multiple required size={Math.min(4, Math.max(2, values.length))} defaultValue={first ? values.slice(0, 1) : []}>
        {values.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
    </label>
  );
}

/** What `millrace sweep add` asks for, for the cases that a page is enough for; webhooks and the ladder are the command's. */
export function NewSweepDialog({ models, platforms, error, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const sent = useRef({ text: "", key: "" });
  const add = useAddSweep();
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = toBody(new FormData(event.currentTarget), models);
    const text = JSON.stringify(body);
    if (sent.current.text !== text) sent.current = { text, key: newKey() };
    add.mutate({ body, key: sent.current.key }, { onSuccess: ({ id }) => navigate(`/sweeps/${id}`) });
  };
  return (
    <dialog ref={dialog} className="dialog" onClose={onClose} aria-labelledby="new-sweep-title">
      <form onSubmit={submit}>
        <h2 id="new-sweep-title">New sweep</h2>
        <p className="hint">An exploration for every combination of what is chosen; its first run is the baseline.</p>
        <div className="fields">
          <label className="wide">
            Name
            <input name="name" required maxLength={100} pattern="[A-Za-z0-9][A-Za-z0-9 ._+\-]*" />
          </label>
          <Choices key={models.length} legend="Models" name="models" values={models.map((m) => m.name)} first />
          <Choices key={`p${platforms.length}`} legend="Platforms" name="platforms" values={platforms.map((p) => p.name)} first />
          <Choices legend="Phases" name="phases" values={PHASES} first />
          <Choices legend="Precisions" name="precisions" values={PRECISIONS} first />
          <label>
            Lengths
            <input name="lengths" required pattern="[0-9]+([ ,]+[0-9]+)*" defaultValue="64" />
          </label>
          <label>
            Seeds
            <input name="seeds" required pattern="[0-9]+([ ,]+[0-9]+)*" defaultValue="0" />
          </label>
          <label title="minute hour day-of-month month day-of-week; empty: by hand only">
            Schedule (cron)
            <input name="cron" placeholder="0 3 * * *" />
          </label>
          <label>
            Time zone
            <input name="zone" required defaultValue={Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC"} />
          </label>
          <label>
            Budget, designs
            <input name="budget" type="number" min={1} max={1000000} defaultValue={200} required />
          </label>
          <ObjectiveFields />
          <label>
            Verify, designs
            <input name="verify" type="number" min={0} max={32} defaultValue={3} required />
          </label>
          <label title="Relative differences up to this count as none">
            Tolerance, %
            <input name="tolerance" type="number" min={0} max={99} step="any" defaultValue={2} required />
          </label>
        </div>
        {error && <ErrorNote error={error} />}
        {add.error && <ErrorNote error={add.error} />}
        <div className="actions">
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
          <button type="submit" className="button primary" disabled={add.isPending || !models.length}>
            {add.isPending ? "Storing…" : "Store sweep"}
          </button>
        </div>
      </form>
    </dialog>
  );
}
