import { type ReactNode, useId } from "react";
import type { Objection } from "@/lib/access";

interface Props {
  onClick(): void;
  /** Why it can not be pressed. It stays in the order of the keyboard, so that everybody can find out. */
  objection?: Objection;
  busy?: boolean;
  kind?: "primary" | "danger" | undefined;
  small?: boolean;
  children: ReactNode;
}

/** A button that changes something on the farm. */
export function ActionButton({ onClick, objection = null, busy = false, kind, small = false, children }: Props) {
  const id = useId();
  const blocked = objection !== null;
  return (
    <>
      <button
        type="button"
        className={`button${kind ? ` ${kind}` : ""}${small ? " small" : ""}`}
        disabled={busy}
        aria-disabled={blocked || undefined}
        aria-describedby={blocked ? id : undefined}
        title={objection ?? undefined}
        onClick={() => blocked || onClick()}
      >
        {children}
      </button>
      {blocked && (
        <span id={id} className="sr-only">
          {objection}
        </span>
      )}
    </>
  );
}
