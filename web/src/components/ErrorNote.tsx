import { ApiError } from "@/lib/api/http";

interface Props {
  error: Error;
  onRetry?: () => void;
}

/** A failed call: what the service says and a way to try again. */
export function ErrorNote({ error, onRetry }: Props) {
  const title = error instanceof ApiError ? error.title : "The dashboard failed";
  return (
    <div className="note note-bad" role="alert">
      <strong>{title}</strong>
      <p>{error.message}</p>
      {onRetry && (
        <button type="button" className="button small" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
