import { useQuery } from "@tanstack/react-query";
import type { Dataflow } from "@/features/designs/dataflow";
import { get } from "@/lib/api/http";

/** The dataflow.json of a compiled design; `revision` changes when a build of the design ends. */
export function useDataflow(id: string, revision: string, available: boolean) {
  return useQuery({
    queryKey: ["dataflow", id, revision],
    queryFn: ({ signal }) => get<Dataflow>(`/v1/designs/${id}/artifacts/dataflow.json`, signal),
    enabled: available,
    staleTime: Infinity,
  });
}
