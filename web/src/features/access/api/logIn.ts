import { useMutation, useQueryClient } from "@tanstack/react-query";
import { forgetEverything } from "@/lib/api/access";
import { post } from "@/lib/api/http";

/** The service keeps the key in a cookie that no script can read. */
export function useLogIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (key: string) => post<unknown>("/v1/session", { key }),
    onSuccess: () => forgetEverything(client),
  });
}
