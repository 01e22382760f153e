import { useQuery } from "@tanstack/react-query";
import { getAll } from "@/lib/api/http";
import type { Platform } from "@/lib/api/types";

export function usePlatforms() {
  return useQuery({
    queryKey: ["platforms"],
    queryFn: ({ signal }) => getAll<Platform>("/v1/platforms", signal),
    staleTime: Infinity,
  });
}
