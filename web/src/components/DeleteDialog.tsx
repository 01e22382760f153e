import { ConfirmDialog } from "@/components/ConfirmDialog";
import { useDeletion } from "@/lib/api/deletion";
import { number, withUnit } from "@/lib/format";

interface Props {
  /** Where the API has what is to be deleted. */
  path: string;
  name: string;
  onConfirm(): void;
  onClose(): void;
}

/** Says what goes with it and how many bytes, or what still needs it, and asks. */
export function DeleteDialog({ path, name, onConfirm, onClose }: Props) {
  const { data: found, error } = useDeletion(path);
  const refused = found !== undefined && found.needed.length > 0;
  return (
    <ConfirmDialog
      title={refused ? `${name} can not be deleted` : `Delete ${name}?`}
      confirm="Delete it"
      disabled={!found || refused}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {error && <p>{error.message}</p>}
      {refused && found.needed.map((reason) => <p key={reason}>{reason}</p>)}
      {found && !refused && (
        <p>
          {number(found.designs)} designs, {number(found.builds)} builds, {number(found.events)} events and{" "}
          {number(found.files)} files of {withUnit(found.bytes, "bytes")} go with it, and can not be brought back.
        </p>
      )}
    </ConfirmDialog>
  );
}
