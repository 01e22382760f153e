import { useQuery } from "@tanstack/react-query";
import { get, queryOf } from "@/lib/api/http";
import type { Build, Page } from "@/lib/api/types";

/** Why the builds of a queue wait: builds alike wait for the same, so the newest one tells. Null while none does. */
export function useWaiting(queue: string, enabled: boolean) {
  return useQuery({
    queryKey: ["waiting", queue],
    queryFn: async ({ signal }) => {
      const query = queryOf({ queue, state: "queued", limit: 1 });
      const found = await get<Page<Build>>(`/v1/builds${query}`, signal);
      return found.items[0]?.waiting ?? null;
    },
    enabled,
    refetchInterval: 5000,
  });
}
