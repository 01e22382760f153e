import { type FormEvent, useEffect, useId, useRef } from "react";
import { ErrorNote } from "@/components/ErrorNote";
import { type Clone, useCloneBuild } from "@/features/builds/api/cloneBuild";
import { newKey } from "@/lib/api/http";
import type { Build } from "@/lib/api/types";
import { navigate } from "@/lib/router";

const VITIS = ["csynth", "cosim", "link"];

/** Stages that have options; another one's copy would be the build itself. */
export const canClone = ({ design_id, stage }: Build): boolean => design_id !== null && [...VITIS, "measure"].includes(stage);

interface Props {
  build: Build;
  vitis: readonly string[];
  boards: readonly string[];
  onClose(): void;
}

function toBody(form: FormData): Clone {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  return {
    ...(text("vitis") && { vitis: text("vitis") }),
    ...(text("clock_mhz") && { clock_mhz: Number(text("clock_mhz")) }),
    ...(text("target") && { target: text("target") as "hw" | "hw_emu" }),
    ...(text("board") && { board: text("board") }),
  };
}

function Choice({ name, label, values, now }: { name: string; label: string; values: readonly string[]; now: unknown }) {
  return (
    <label>
      {label}
      <select name={name}>
        <option value="">{now ? `as it is: ${String(now)}` : "as it is"}</option>
        {values.filter((value) => value !== now).map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The same stage of the same design with other options: a build of its own, from the first stage that they change. */
export function CloneDialog({ build, vitis, boards, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const key = useRef(newKey());
  const clone = useCloneBuild(build.id);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = toBody(new FormData(event.currentTarget));
    clone.mutate({ body, key: key.current }, { onSuccess: (made) => navigate(`/builds/${made.id}`), onError: () => (key.current = newKey()) });
  };
  const withVitis = VITIS.includes(build.stage);
  return (
    <dialog ref={dialog} className="dialog" onClose={onClose} aria-labelledby={id}>
      <form onSubmit={submit}>
        <h2 id={id}>Clone this {build.stage}</h2>
        <div className="fields">
          {withVitis && <Choice name="vitis" label="Vitis" values={vitis} now={build.options["vitis"]} />}
          {withVitis && (
            <label>
              Clock, MHz
              <input name="clock_mhz" type="number" min={1} max={1000} step="any" placeholder={String(build.options["clock_mhz"] ?? "as it is")} />
            </label>
          )}
          {build.stage === "link" && <Choice name="target" label="Target" values={["hw", "hw_emu"]} now={build.options["target"]} />}
          {build.stage === "measure" && <Choice name="board" label="Board" values={boards} now={build.options["board"]} />}
        </div>
        <p className="hint">What was built before with the same options comes from the cache.</p>
        {clone.error && <ErrorNote error={clone.error} />}
        <div className="actions">
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
          <button type="submit" className="button primary" disabled={clone.isPending}>
            {clone.isPending ? "Starting…" : "Clone"}
          </button>
        </div>
      </form>
    </dialog>
  );
}
