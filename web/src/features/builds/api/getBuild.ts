import { useQuery } from "@tanstack/react-query";
import { get } from "@/lib/api/http";
import type { Build } from "@/lib/api/types";
import { isOpen } from "@/lib/states";

export const buildKey = (id: string) => ["build", id] as const;

export function useBuild(id: string) {
  return useQuery({
    queryKey: buildKey(id),
    queryFn: ({ signal }) => get<Build>(`/v1/builds/${encodeURIComponent(id)}`, signal),
    refetchInterval: (query) => (isOpen(query.state.data?.state) ? 1500 : false),
  });
}
