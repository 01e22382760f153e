import type { Workload } from "@/lib/api/types";

export const lengthName = (phase: Workload["phase"]) => (phase === "prefill" ? "sequence" : "context");

/** "decode, context 64, w4a8": the words of the command line. */
export function workloadText({ phase, length, precision, layers }: Workload): string {
  const parts: string[] = [phase, `${lengthName(phase)} ${length}`, precision];
  if (layers > 1) parts.push(`${layers} layers`);
  return parts.join(" · ");
}
