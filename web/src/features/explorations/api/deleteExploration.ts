import { useMutation, useQueryClient } from "@tanstack/react-query";
import { send } from "@/lib/api/http";

export function useDeleteExploration(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => send("DELETE", `/v1/explorations/${id}`),
    onSuccess: () => client.invalidateQueries({ queryKey: ["explorations"] }),
  });
}
