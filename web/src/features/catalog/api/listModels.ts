import { useQuery } from "@tanstack/react-query";
import { getAll } from "@/lib/api/http";
import type { Model } from "@/lib/api/types";

export function useModels(enabled: boolean) {
  return useQuery({
    queryKey: ["models"],
    queryFn: ({ signal }) => getAll<Model>("/v1/models", signal),
    enabled,
  });
}
