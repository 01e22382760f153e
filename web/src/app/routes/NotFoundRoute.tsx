import { Link } from "@/lib/router";

export function NotFoundRoute() {
  return (
    <section className="card empty">
      <h1>There is no such page</h1>
      <p>The address is mistyped, or what it named is gone.</p>
      <Link href="/" className="button primary">
        All explorations
      </Link>
    </section>
  );
}
