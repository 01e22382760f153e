import { useQuery } from "@tanstack/react-query";
import { get } from "@/lib/api/http";
import type { Exploration } from "@/lib/api/types";
import { isActive } from "@/lib/states";

export const explorationKey = (id: string) => ["exploration", id] as const;

/** `id` null: nothing is asked for yet. Events bring changes sooner; the interval is the safety net under them. */
export function useExploration(id: string | null) {
  return useQuery({
    queryKey: explorationKey(id ?? ""),
    queryFn: ({ signal }) => get<Exploration>(`/v1/explorations/${id}`, signal),
    enabled: id !== null,
    refetchInterval: (query) => (query.state.data && isActive(query.state.data.state) ? 3000 : false),
  });
}
