import { ErrorNote } from "@/components/ErrorNote";
import { Link } from "@/lib/router";

/** In place of a page whose subject could not be had. */
export function Unavailable({ error, onRetry }: { error: Error; onRetry: () => void }) {
  return (
    <>
      <ErrorNote error={error} onRetry={onRetry} />
      <Link href="/">All explorations</Link>
    </>
  );
}
