import { useQuery } from "@tanstack/react-query";
import { getAll } from "@/lib/api/http";
import type { Artifact } from "@/lib/api/types";

/** `revision` changes when a build of the design ends: there may be new files. */
export function useArtifacts(id: string, revision: string) {
  return useQuery({
    queryKey: ["artifacts", id, revision],
    queryFn: ({ signal }) => getAll<Artifact>(`/v1/designs/${id}/artifacts`, signal),
    placeholderData: (previous, query) => (query?.queryKey[1] === id ? previous : undefined),
  });
}

export const archiveUrl = (id: string) => `/v1/designs/${id}/archive`;
