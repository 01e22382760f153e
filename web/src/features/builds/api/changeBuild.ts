import { useMutation, useQueryClient } from "@tanstack/react-query";
import { buildKey } from "@/features/builds/api/getBuild";
import { post } from "@/lib/api/http";
import type { Build } from "@/lib/api/types";

export function useChangeBuild(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (action: "retry" | "cancel") => post<Build>(`/v1/builds/${id}/${action}`),
    onSettled: () => client.invalidateQueries({ queryKey: buildKey(id) }),
  });
}
