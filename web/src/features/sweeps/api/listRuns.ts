import { useInfiniteQuery } from "@tanstack/react-query";
import { get, queryOf } from "@/lib/api/http";
import type { SweepRunSummary } from "@/lib/api/sweeps";
import type { Page } from "@/lib/api/types";

const PAGE_SIZE = 60;

/** Newest first. */
export function useRuns(sweep: string) {
  return useInfiniteQuery({
    queryKey: ["sweep-runs", sweep],
    queryFn: ({ pageParam, signal }) =>
      get<Page<SweepRunSummary>>(`/v1/sweeps/${encodeURIComponent(sweep)}/runs${queryOf({ limit: PAGE_SIZE, cursor: pageParam })}`, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: 5000,
  });
}
