import { useEffect } from "react";
import { ErrorNote } from "@/components/ErrorNote";
import { BuildFilters } from "@/features/builds/BuildFilters";
import { BuildTable } from "@/features/builds/BuildTable";
import { FILTERS, type Filters, useBuilds } from "@/features/builds/api/listBuilds";
import { useFarm } from "@/lib/api/farm";
import { useNow } from "@/lib/clock";
import { useQueryParams } from "@/lib/router";

export function BuildsRoute() {
  const [params, setParam] = useQueryParams();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, params.get(name)])) as Filters;
  const list = useBuilds(filters);
  const farm = useFarm(0);
  const now = useNow(1000);
  const builds = list.data?.pages.flatMap((page) => page.items);
  const filtered = FILTERS.some((name) => filters[name]);

  useEffect(() => {
    document.title = "Builds · Millrace";
  }, []);

  return (
    <>
      <div className="page-head title-row">
        <h1>Builds</h1>
        <span className="spacer" />
        <BuildFilters filters={filters} nodes={farm.data?.nodes.map((n) => n.name) ?? []} onChange={setParam} />
      </div>
      {list.error && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && !list.error && <div className="card skeleton list" />}
      {builds?.length === 0 && (
        <section className="card empty">
          <h2>{filtered ? "No such builds" : "No build yet"}</h2>
          <p>{filtered ? "No build has all that is filtered for." : "An exploration makes the first ones."}</p>
        </section>
      )}
      {builds && builds.length > 0 && <BuildTable builds={builds} now={now} />}
      {list.hasNextPage && (
        <button type="button" className="button more" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Older builds
        </button>
      )}
    </>
  );
}
