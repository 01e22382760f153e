import { useMutation, useQueryClient } from "@tanstack/react-query";
import { explorationKey } from "@/features/explorations/api/getExploration";
import { send } from "@/lib/api/http";

/** What people write on an exploration, and whether it is to be listed and kept. */
export interface Label {
  name?: string;
  tags?: string[];
  notes?: string;
  archived?: boolean;
  pinned?: boolean;
}

export function useChangeExploration(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (label: Label) => send("PATCH", `/v1/explorations/${id}`, label),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: explorationKey(id) });
      void client.invalidateQueries({ queryKey: ["explorations"] });
    },
  });
}
