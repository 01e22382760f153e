import type { Build } from "@/lib/api/types";
import { useQuery } from "@tanstack/react-query";
import { get } from "@/lib/api/http";

export type NodeState = "active" | "draining" | "paused";

/** A machine of the farm; `missing`: why it can not do something. */
export interface FarmNode {
  name: string;
  state: NodeState;
  /** It has reported lately. */
  present: boolean;
  /** Tool versions by queue. */
  capabilities: Record<string, Record<string, string>>;
  missing: Record<string, string>;
  cpus: number;
  memory_gb: number;
  used_cpus: number;
  used_memory_gb: number;
  running: number;
  /** Bytes on its disk, by what they are for. */
  disk: Record<string, number>;
  version: string;
  last_seen: string;
}

export interface QueueState {
  name: string;
  waiting: number;
  running: number;
  oldest_s: number | null;
  /** Active nodes that serve it. */
  nodes: number;
}

export interface Licence {
  feature: string;
  tokens: number;
  used: number;
}

export interface Farm {
  nodes: FarmNode[];
  queues: QueueState[];
  licences: Licence[];
  /** Longest first. */
  running: Build[];
}

export const FARM_KEY = ["farm"] as const;

/** `everyMs` 0: as it is once. */
export function useFarm(everyMs: number, enabled = true) {
  return useQuery({
    queryKey: FARM_KEY,
    queryFn: ({ signal }) => get<Farm>("/v1/farm", signal),
    refetchInterval: everyMs || false,
    enabled,
  });
}

/** Where in a list of queues the options are that a person may choose: versions after the @, newest first. */
function after(farm: Farm | undefined, stage: string): string[] {
  const names = (farm?.nodes ?? []).flatMap((node) => Object.keys(node.capabilities));
  const found = names.filter((name) => name.startsWith(`${stage}@`)).map((name) => name.slice(stage.length + 1));
  return [...new Set(found)].sort().reverse();
}

/** The versions of Vitis HLS that nodes offer. */
export const vitisVersions = (farm: Farm | undefined): string[] => after(farm, "csynth");

/** The boards that nodes offer to measure on, the simulated one among them. */
export const boardsOf = (farm: Farm | undefined): string[] => after(farm, "measure");
