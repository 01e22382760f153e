import { get } from "@/lib/api/http";
import type { Columns } from "@/lib/api/types";

export function getScatter(id: string, signal: AbortSignal): Promise<Columns> {
  return get<Columns>(`/v1/explorations/${id}/scatter`, signal);
}
