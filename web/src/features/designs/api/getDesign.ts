import { useQuery } from "@tanstack/react-query";
import { get } from "@/lib/api/http";
import type { Design } from "@/lib/api/types";
import { isOpen as isOpenState } from "@/lib/states";

export const designKey = (id: string) => ["design", id] as const;

const isOpen = (design: Design | undefined) =>
  design?.builds.some((b) => isOpenState(b.state)) ?? false;

/** Renewed every second while one of its builds is at work. */
export function useDesign(id: string, enabled = true) {
  return useQuery({
    queryKey: designKey(id),
    queryFn: ({ signal }) => get<Design>(`/v1/designs/${id}`, signal),
    enabled,
    refetchInterval: (query) => (isOpen(query.state.data) ? 1000 : false),
  });
}
