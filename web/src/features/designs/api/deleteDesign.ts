import { useMutation } from "@tanstack/react-query";
import { send } from "@/lib/api/http";

export function useDeleteDesign(id: string) {
  return useMutation({ mutationFn: () => send("DELETE", `/v1/designs/${id}`) });
}
