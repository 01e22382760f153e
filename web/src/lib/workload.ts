import type { Exploration, Workload } from "@/lib/api/types";

export const lengthName = (phase: Workload["phase"]) => (phase === "prefill" ? "sequence" : "context");

const FORMATS = new Set(["onnx", "mlir", "pt2"]);

/** Whether a model of this kind is a whole network from a file, with its shapes in it. */
export const isFile = (kind: string): boolean => FORMATS.has(kind);

/** "decode, context 64, w4a8": the words of the command line. */
export function workloadText({ model, workload }: Pick<Exploration, "model" | "workload">): string {
  const { phase, length, precision, layers, ports } = workload;
  if (isFile(model.kind)) {
    const parts = [`whole network (.${model.kind})`, precision];
    if (ports === "i8") parts.push("int8 ports");
    return parts.join(" · ");
  }
  if (phase === "head") return `head · ${precision}`;
  const parts: string[] = [phase, `${lengthName(phase)} ${length}`, precision];
  if (layers > 1) parts.push(`${layers} layers`);
  return parts.join(" · ");
}
