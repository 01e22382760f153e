import { useMutation, useQueryClient } from "@tanstack/react-query";
import { designKey } from "@/features/designs/api/getDesign";
import { post } from "@/lib/api/http";
import type { DesignStage } from "@/lib/api/types";

/** `proof`: whether the C simulation runs on more than the network's inputs and a few drawn tokens. */
export interface NewBuild {
  stage: DesignStage;
  proof?: "whole";
}

/** Runs a stage of a design; those before it that are not done run first. */
export function useStartStage(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewBuild) => post<{ id: string }>(`/v1/designs/${id}/builds`, body),
    onSettled: () => client.invalidateQueries({ queryKey: designKey(id) }),
  });
}
