import { useMutation, useQueryClient } from "@tanstack/react-query";
import { runKey } from "@/features/sweeps/api/getRun";
import { post } from "@/lib/api/http";
import { SWEEPS_KEY } from "@/lib/api/sweeps";

/** "accept" takes a regressed run as the new baseline. */
export function useChangeRun(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (action: "accept" | "cancel") => post<unknown>(`/v1/sweep-runs/${id}/${action}`),
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: runKey(id) });
      await client.invalidateQueries({ queryKey: SWEEPS_KEY });
    },
  });
}
