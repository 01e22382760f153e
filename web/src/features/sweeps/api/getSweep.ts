import { useQuery } from "@tanstack/react-query";
import { get } from "@/lib/api/http";
import type { Sweep } from "@/lib/api/sweeps";

export const sweepKey = (id: string) => ["sweep", id] as const;

export function useSweep(id: string | null) {
  return useQuery({
    queryKey: sweepKey(id ?? ""),
    queryFn: ({ signal }) => get<Sweep>(`/v1/sweeps/${encodeURIComponent(id ?? "")}`, signal),
    enabled: id !== null,
    refetchInterval: 5000,
  });
}
