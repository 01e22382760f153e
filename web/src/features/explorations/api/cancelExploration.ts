import { useMutation, useQueryClient } from "@tanstack/react-query";
import { explorationKey } from "@/features/explorations/api/getExploration";
import { post } from "@/lib/api/http";

export function useCancelExploration(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => post<unknown>(`/v1/explorations/${id}/cancel`),
    onSettled: () => client.invalidateQueries({ queryKey: explorationKey(id) }),
  });
}
