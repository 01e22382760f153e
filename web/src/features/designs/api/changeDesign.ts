import { useMutation, useQueryClient } from "@tanstack/react-query";
import { designKey } from "@/features/designs/api/getDesign";
import { send } from "@/lib/api/http";

/** Whether a design is to be listed and kept. */
export interface Marks {
  archived?: boolean;
  pinned?: boolean;
}

export function useChangeDesign(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (marks: Marks) => send("PATCH", `/v1/designs/${id}`, marks),
    onSuccess: () => client.invalidateQueries({ queryKey: designKey(id) }),
  });
}
