import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FARM_KEY, type NodeState } from "@/lib/api/farm";
import { post, send } from "@/lib/api/http";

const address = (name: string) => `/v1/farm/nodes/${encodeURIComponent(name)}`;

/** "forget" takes a node that is gone off the list. */
export function useChangeNode(name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (to: NodeState | "forget") => {
      if (to === "forget") await send("DELETE", address(name));
      else await post<unknown>(address(name), { state: to });
    },
    onSettled: () => client.invalidateQueries({ queryKey: FARM_KEY }),
  });
}
