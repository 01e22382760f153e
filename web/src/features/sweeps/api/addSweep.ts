import { useMutation, useQueryClient } from "@tanstack/react-query";
import { post } from "@/lib/api/http";
import type { NewSweep } from "@/lib/api/sweeps";

export function useAddSweep() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ body, key }: { body: NewSweep; key: string }) => post<{ id: string }>("/v1/sweeps", body, key),
    onSuccess: () => client.invalidateQueries({ queryKey: ["sweeps"] }),
  });
}
