import { useMutation } from "@tanstack/react-query";
import { post } from "@/lib/api/http";
import type { Build } from "@/lib/api/types";

/** What is to be different in the copy; what is left out stays. */
export interface Clone {
  vitis?: string;
  clock_mhz?: number;
  target?: "hw" | "hw_emu";
  board?: string;
}

export function useCloneBuild(id: string) {
  return useMutation({
    mutationFn: ({ body, key }: { body: Clone; key: string }) => post<Build>(`/v1/builds/${id}/clone`, body, key),
  });
}
