import { useQuery } from "@tanstack/react-query";
import { get } from "@/lib/api/http";
import type { FrontGroups } from "@/lib/api/types";

export const groupsKey = (id: string) => ["groups", id] as const;

/** Groups follow from simulations, so from the end of the search on; the page asks again after each. */
export function useGroups(id: string) {
  return useQuery({
    queryKey: groupsKey(id),
    queryFn: ({ signal }) => get<FrontGroups>(`/v1/explorations/${id}/groups`, signal),
  });
}
