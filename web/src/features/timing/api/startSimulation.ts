import { useMutation } from "@tanstack/react-query";
import { post } from "@/lib/api/http";

/** `onSettled` renews what the page knows of the design. */
export function useStartSimulation(id: string, onSettled: () => void) {
  return useMutation({
    mutationFn: () => post<{ id: string }>(`/v1/designs/${id}/builds`, { stage: "simulate" }),
    onSettled,
  });
}
