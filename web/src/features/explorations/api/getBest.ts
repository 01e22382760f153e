import { useQuery } from "@tanstack/react-query";
import { getAll } from "@/lib/api/http";
import type { DesignSummary, Exploration } from "@/lib/api/types";

export interface Best {
  latency_us: number;
  energy_uj: number;
}

const lowest = (values: (number | null)[]) => Math.min(...values.filter((v) => v !== null));

/** The ends of the front: the lowest latency and the lowest energy of any feasible design. Null without a front. */
export function useBest({ id, evaluated, front_size }: Exploration) {
  return useQuery({
    queryKey: ["best", id, evaluated, front_size],
    queryFn: async ({ signal }): Promise<Best> => {
      const front = await getAll<DesignSummary>(`/v1/explorations/${id}/designs?front=true&limit=200`, signal);
      return { latency_us: lowest(front.map((d) => d.latency_us)), energy_uj: lowest(front.map((d) => d.energy_uj)) };
    },
    enabled: front_size > 0,
    staleTime: Infinity,
    placeholderData: (previous) => previous,
  });
}
