import { useMutation, useQueryClient } from "@tanstack/react-query";
import { post } from "@/lib/api/http";
import type { NewExploration } from "@/lib/api/types";

export function useCreateExploration() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ body, key }: { body: NewExploration; key: string }) =>
      post<{ id: string }>("/v1/explorations", body, key),
    onSuccess: () => client.invalidateQueries({ queryKey: ["explorations"] }),
  });
}
