import type { Build } from "@/lib/api/types";
import { Link } from "@/lib/router";

/** What a build is of, by its id. */
export function BuildSubject({ build: { design_id, exploration_id } }: { build: Build }) {
  const href = design_id ? `/designs/${design_id}` : exploration_id && `/explorations/${exploration_id}`;
  if (!href) return <span className="faint">a workload</span>;
  return (
    <Link href={href} className="subject">
      <code>{design_id ?? exploration_id}</code>
    </Link>
  );
}
