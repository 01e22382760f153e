import { type ComponentType } from "react";
import { DesignRoute } from "@/app/routes/DesignRoute";
import { ExplorationRoute } from "@/app/routes/ExplorationRoute";
import { ExplorationsRoute } from "@/app/routes/ExplorationsRoute";
import { NotFoundRoute } from "@/app/routes/NotFoundRoute";
import { Link, match, usePath } from "@/lib/router";

const ROUTES: [string, ComponentType<{ id: string }>][] = [
  ["/explorations/:id", ExplorationRoute],
  ["/designs/:id", DesignRoute],
];

function Page({ path }: { path: string }) {
  if (path === "/" || path === "/explorations") return <ExplorationsRoute />;
  for (const [pattern, Route] of ROUTES) {
    const id = match(pattern, path);
    if (id) return <Route key={id} id={id} />;
  }
  return <NotFoundRoute />;
}

export function App() {
  const path = usePath();
  return (
    <>
      <header className="top">
        <Link href="/" className="brand">
          <img src="/favicon.svg" alt="" width={22} height={22} />
          Millrace
        </Link>
        <nav aria-label="Main">
          <Link href="/" aria-current={path === "/" ? "page" : undefined}>
            Explorations
          </Link>
          <a href="/docs">API</a>
        </nav>
      </header>
      <main>
        <Page path={path} />
      </main>
    </>
  );
}
