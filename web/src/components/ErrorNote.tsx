import { ApiError } from "@/lib/api/http";

interface Props {
  error: Error;
  onRetry?: () => void;
}

/** A failed call: what the service says and a way to try again. */
export function ErrorNote({ error, onRetry }: Props) {
  const title = error instanceof ApiError ? error.title : "The dashboard failed";
  // What the service refuses it refuses again.
  const mayPass = !(error instanceof ApiError) || error.status < 400 || error.status >= 500;
  return (
    <div className="note note-bad" role="alert">
      <strong>{title}</strong>
      <p>{error.message}</p>
      {onRetry && mayPass && (
        <button type="button" className="button small" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
