import { type ReactNode, useEffect, useId, useRef } from "react";

interface Props {
  title: string;
  /** What will be lost. */
  children: ReactNode;
  confirm: string;
  disabled?: boolean;
  onConfirm(): void;
  onClose(): void;
}

/** Asks before work is destroyed; the way out has the focus. */
export function ConfirmDialog({ title, children, confirm, disabled = false, onConfirm, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const accept = () => {
    dialog.current?.close();
    onConfirm();
  };
  return (
    <dialog ref={dialog} className="dialog narrow" onClose={onClose} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <div className="hint">{children}</div>
      <div className="actions">
        <button type="button" className="button" autoFocus onClick={() => dialog.current?.close()}>
          Keep it
        </button>
        <button type="button" className="button danger" disabled={disabled} onClick={accept}>
          {confirm}
        </button>
      </div>
    </dialog>
  );
}
