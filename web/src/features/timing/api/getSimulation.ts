import { useQuery } from "@tanstack/react-query";
import type { Simulation } from "@/features/timing/simulation";
import { get } from "@/lib/api/http";

/** The simulation.json of a design; `revision` changes when a build of the design ends. */
export function useSimulation(id: string, revision: string, available: boolean) {
  return useQuery({
    queryKey: ["simulation", id, revision],
    queryFn: ({ signal }) => get<Simulation>(`/v1/designs/${id}/artifacts/simulation.json`, signal),
    enabled: available,
    staleTime: Infinity,
    placeholderData: (previous, query) => (query?.queryKey[1] === id ? previous : undefined),
  });
}
