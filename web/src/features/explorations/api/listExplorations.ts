import { useInfiniteQuery } from "@tanstack/react-query";
import { get } from "@/lib/api/http";
import type { Exploration, Page } from "@/lib/api/types";
import { isActive } from "@/lib/states";

const PAGE_SIZE = 50;

/** Newest first; renewed every two seconds while one of them is at work. */
export function useExplorations(archived: boolean) {
  return useInfiniteQuery({
    queryKey: ["explorations", archived],
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam ? `&cursor=${encodeURIComponent(pageParam)}` : "";
      const all = archived ? "&archived=true" : "";
      return get<Page<Exploration>>(`/v1/explorations?limit=${PAGE_SIZE}${all}${cursor}`, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (query) => {
      const items = query.state.data?.pages.flatMap((page) => page.items) ?? [];
      return items.some((e) => isActive(e.state)) ? 2000 : 15_000;
    },
  });
}
