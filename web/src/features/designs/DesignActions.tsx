import { useState } from "react";
import { ActionButton } from "@/components/ActionButton";
import { DeleteDialog } from "@/components/DeleteDialog";
import { ErrorNote } from "@/components/ErrorNote";
import { useChangeDesign } from "@/features/designs/api/changeDesign";
import { useDeleteDesign } from "@/features/designs/api/deleteDesign";
import type { Design } from "@/lib/api/types";
import { useObjection } from "@/lib/access";
import { navigate } from "@/lib/router";

/** What a person may do with a design as a whole; `owner` is its exploration's. */
export function DesignActions({ design, owner }: { design: Design; owner: string | null | undefined }) {
  const [deleting, setDeleting] = useState(false);
  const objection = useObjection("user", owner);
  const mark = useChangeDesign(design.id);
  const remove = useDeleteDesign(design.id);
  const error = mark.error ?? remove.error;
  const busy = mark.isPending || remove.isPending;
  return (
    <>
      <ActionButton objection={objection} busy={busy} onClick={() => mark.mutate({ archived: !design.archived })}>
        {design.archived ? "List again" : "Archive"}
      </ActionButton>
      <ActionButton objection={objection} busy={busy} onClick={() => mark.mutate({ pinned: !design.pinned })}>
        {design.pinned ? "Unpin" : "Pin"}
      </ActionButton>
      <ActionButton kind="danger" objection={objection} busy={busy} onClick={() => setDeleting(true)}>
        Delete
      </ActionButton>
      {deleting && (
        <DeleteDialog
          path={`/v1/designs/${design.id}`}
          name={`design ${design.number}`}
          onConfirm={() =>
            remove.mutate(undefined, { onSuccess: () => navigate(`/explorations/${design.exploration_id}`) })
          }
          onClose={() => setDeleting(false)}
        />
      )}
      {error && <ErrorNote error={error} />}
    </>
  );
}
