import { useQueries } from "@tanstack/react-query";
import { get } from "@/lib/api/http";
import type { Columns } from "@/lib/api/types";

/** All designs of the two explorations of a slot, the baseline's first; null where there is none. */
export function useBothClouds(before: string | null, after: string): [Columns | null, Columns | null] {
  const [old, now] = useQueries({
    queries: [before, after].map((id) => ({
      queryKey: ["cloud", id],
      queryFn: ({ signal }: { signal: AbortSignal }) => get<Columns>(`/v1/explorations/${id}/scatter`, signal),
      enabled: id !== null,
      staleTime: 60_000,
    })),
  });
  return [old?.data ?? null, now?.data ?? null];
}
