import { useQuery } from "@tanstack/react-query";
import { get } from "@/lib/api/http";
import type { SweepRun } from "@/lib/api/sweeps";

export const runKey = (id: string) => ["sweep-run", id] as const;

export function useRun(id: string) {
  return useQuery({
    queryKey: runKey(id),
    queryFn: ({ signal }) => get<SweepRun>(`/v1/sweep-runs/${encodeURIComponent(id)}`, signal),
    refetchInterval: (query) => (query.state.data?.state === "running" ? 3000 : false),
  });
}
