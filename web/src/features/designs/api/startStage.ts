import { useMutation, useQueryClient } from "@tanstack/react-query";
import { designKey } from "@/features/designs/api/getDesign";
import { post } from "@/lib/api/http";
import type { DesignStage } from "@/lib/api/types";

/** Runs a stage of a design; those before it that are not done run first. */
export function useStartStage(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (stage: DesignStage) => post<{ id: string }>(`/v1/designs/${id}/builds`, { stage }),
    onSettled: () => client.invalidateQueries({ queryKey: designKey(id) }),
  });
}
