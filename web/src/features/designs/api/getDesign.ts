import { useQuery } from "@tanstack/react-query";
import { get } from "@/lib/api/http";
import type { Design } from "@/lib/api/types";

export const designKey = (id: string) => ["design", id] as const;

const isOpen = (design: Design | undefined) =>
  design?.builds.some((b) => b.state === "queued" || b.state === "running") ?? false;

/** Renewed every second while one of its builds is at work. */
export function useDesign(id: string) {
  return useQuery({
    queryKey: designKey(id),
    queryFn: ({ signal }) => get<Design>(`/v1/designs/${id}`, signal),
    refetchInterval: (query) => (isOpen(query.state.data) ? 1000 : false),
  });
}
