import { useMutation, useQueryClient } from "@tanstack/react-query";
import { designKey } from "@/features/designs/api/getDesign";
import { post } from "@/lib/api/http";

export function useStartCsim(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => post<{ id: string }>(`/v1/designs/${id}/builds`, { stage: "csim" }),
    onSettled: () => client.invalidateQueries({ queryKey: designKey(id) }),
  });
}
