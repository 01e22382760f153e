import type { ComponentType } from "react";
import { BuildRoute } from "@/app/routes/BuildRoute";
import { BuildsRoute } from "@/app/routes/BuildsRoute";
import { DesignRoute } from "@/app/routes/DesignRoute";
import { ExplorationRoute } from "@/app/routes/ExplorationRoute";
import { ExplorationsRoute } from "@/app/routes/ExplorationsRoute";
import { FarmRoute } from "@/app/routes/FarmRoute";
import { NotFoundRoute } from "@/app/routes/NotFoundRoute";
import { SweepRoute } from "@/app/routes/SweepRoute";
import { SweepRunRoute } from "@/app/routes/SweepRunRoute";
import { SweepsRoute } from "@/app/routes/SweepsRoute";
import { Account } from "@/features/access/Account";
import { Login } from "@/features/access/Login";
import { useMe } from "@/lib/api/access";
import { ApiError } from "@/lib/api/http";
import { isRed, useSweeps } from "@/lib/api/sweeps";
import { Link, match, usePath } from "@/lib/router";

const PAGES: Record<string, ComponentType> = {
  "/": ExplorationsRoute,
  "/explorations": ExplorationsRoute,
  "/builds": BuildsRoute,
  "/sweeps": SweepsRoute,
  "/farm": FarmRoute,
};
const ROUTES: [string, ComponentType<{ id: string }>][] = [
  ["/explorations/:id", ExplorationRoute],
  ["/designs/:id", DesignRoute],
  ["/builds/:id", BuildRoute],
  ["/sweeps/:id", SweepRoute],
  ["/sweep-runs/:id", SweepRunRoute],
];
const NAVIGATION: [href: string, name: string][] = [
  ["/", "Explorations"],
  ["/builds", "Builds"],
  ["/sweeps", "Sweeps"],
  ["/farm", "Farm"],
];

function Page({ path }: { path: string }) {
  const Plain = PAGES[path.replace(/(.)\/$/, "$1")];
  if (Plain) return <Plain />;
  for (const [pattern, Route] of ROUTES) {
    const id = match(pattern, path);
    if (id) return <Route key={id} id={id} />;
  }
  return <NotFoundRoute />;
}

/** A mark beside Sweeps while the last run of one has found something worse. */
function Alarm({ active }: { active: boolean }) {
  const red = useSweeps(active).data?.filter(isRed).length ?? 0;
  if (!active || !red) return null;
  const text = red === 1 ? "1 sweep regressed" : `${red} sweeps regressed`;
  return (
    <span className="alarm num" role="img" title={text} aria-label={text} data-testid="alarm">
      {red}
    </span>
  );
}

const isHere = (href: string, path: string): boolean =>
  href === "/" ? path === "/" || path.startsWith("/explorations") : path.startsWith(href) || (href === "/sweeps" && path.startsWith("/sweep-runs"));

export function App() {
  const path = usePath();
  const me = useMe();
  const stranger = me.error instanceof ApiError && me.error.status === 401;
  return (
    <>
      <header className="top">
        <Link href="/" className="brand">
          <img src="/favicon.svg" alt="" width={22} height={22} />
          <span>Millrace</span>
        </Link>
        {!stranger && (
          <nav aria-label="Main">
            {NAVIGATION.map(([href, name]) => (
              <Link key={href} href={href} aria-current={isHere(href, path) ? "page" : undefined}>
                {name}
                {href === "/sweeps" && <Alarm active={me.isSuccess} />}
              </Link>
            ))}
            <a href="/learn/">Learn</a>
            <a href="/docs">API</a>
          </nav>
        )}
        <span className="spacer" />
        {me.data && <Account me={me.data} />}
      </header>
      <main>{stranger ? <Login /> : me.isPending ? <div className="skeleton page" /> : <Page path={path} />}</main>
    </>
  );
}
