import { useMutation, useQueryClient } from "@tanstack/react-query";
import { forgetEverything } from "@/lib/api/access";
import { send } from "@/lib/api/http";

export function useLogOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => send("DELETE", "/v1/session"),
    onSettled: () => forgetEverything(client),
  });
}
