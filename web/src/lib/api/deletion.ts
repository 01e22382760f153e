import { useQuery } from "@tanstack/react-query";
import { get } from "@/lib/api/http";
import type { Deletion } from "@/lib/api/types";

/** What would be deleted with the thing at `path`, as it is now. */
export function useDeletion(path: string) {
  return useQuery({
    queryKey: ["deletion", path],
    queryFn: ({ signal }) => get<Deletion>(`${path}/deletion`, signal),
    gcTime: 0,
  });
}
