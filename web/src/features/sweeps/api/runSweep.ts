import { useMutation } from "@tanstack/react-query";
import { post } from "@/lib/api/http";

export function useRunSweep(id: string) {
  return useMutation({
    mutationFn: (key: string) => post<{ id: string }>(`/v1/sweeps/${id}/run`, {}, key),
  });
}
