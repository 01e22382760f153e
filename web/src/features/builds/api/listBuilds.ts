import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { get, queryOf } from "@/lib/api/http";
import type { Build, Page } from "@/lib/api/types";
import { isOpen } from "@/lib/states";

const PAGE_SIZE = 50;
export const FILTERS = ["state", "stage", "queue", "node", "exploration", "design"] as const;
export type Filters = Partial<Record<(typeof FILTERS)[number], string | null>>;

/** Newest first; renewed every two seconds while one of them is at work. */
export function useBuilds(filters: Filters) {
  return useInfiniteQuery({
    queryKey: ["builds", filters],
    queryFn: ({ pageParam, signal }) =>
      get<Page<Build>>(`/v1/builds${queryOf({ ...filters, limit: PAGE_SIZE, cursor: pageParam })}`, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: (query) => {
      const items = query.state.data?.pages.flatMap((page) => page.items) ?? [];
      return items.some((b) => isOpen(b.state)) ? 2000 : 10_000;
    },
  });
}
