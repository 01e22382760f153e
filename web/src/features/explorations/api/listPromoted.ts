import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getAll, queryOf } from "@/lib/api/http";
import type { Build, ClimbStage } from "@/lib/api/types";

/** The builds of one stage of an exploration's designs, newest first. */
export function usePromoted(exploration: string, stage: ClimbStage, active: boolean) {
  return useQuery({
    queryKey: ["promoted", exploration, stage],
    queryFn: ({ signal }) => getAll<Build>(`/v1/builds${queryOf({ exploration, stage, limit: 200 })}`, signal),
    placeholderData: keepPreviousData,
    refetchInterval: active ? 4000 : false,
  });
}
