import { type FormEvent, useEffect, useRef } from "react";
import { ErrorNote } from "@/components/ErrorNote";
import { useChangeExploration } from "@/features/explorations/api/changeExploration";
import { toTags } from "@/features/explorations/tags";
import type { Exploration } from "@/lib/api/types";

/** Name, tags and notes of an exploration. */
export function EditExplorationDialog({ exploration: e, onClose }: { exploration: Exploration; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const change = useChangeExploration(e.id);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "");
    const label = { name: text("name"), tags: toTags(text("tags")), notes: text("notes") };
    change.mutate(label, { onSuccess: () => dialog.current?.close() });
  };
  return (
    <dialog ref={dialog} className="dialog narrow" onClose={onClose} aria-labelledby="edit-title">
      <form onSubmit={submit}>
        <h2 id="edit-title">Edit exploration</h2>
        <div className="fields">
          <label className="wide">
            Name
            <input name="name" required maxLength={100} pattern="[A-Za-z0-9][A-Za-z0-9._+\-]*" defaultValue={e.name} />
          </label>
          <label className="wide">
            Tags, separated by spaces
            <input name="tags" defaultValue={e.tags.join(" ")} />
          </label>
          <label className="wide">
            Notes
            <textarea name="notes" rows={4} maxLength={10000} defaultValue={e.notes} />
          </label>
        </div>
        {change.error && <ErrorNote error={change.error} />}
        <div className="actions">
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
          <button type="submit" className="button primary" disabled={change.isPending}>
            {change.isPending ? "Saving…" : "Save"}
          </button>
        </div>
      </form>
    </dialog>
  );
}
