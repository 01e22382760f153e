import { useMemo } from "react";
import "@/features/sweeps/chart";
import type { Overlay } from "@/features/sweeps/fronts";
import { frontsOption } from "@/features/sweeps/frontsOption";
import type { Fidelity, Objective } from "@/lib/api/types";
import { useTheme } from "@/lib/chart/theme";
import { useChart } from "@/lib/chart/useChart";

interface Props {
  fronts: Overlay;
  objectives: readonly Objective[];
  fidelity: Fidelity;
}

export function FrontsChart({ fronts, objectives, fidelity }: Props) {
  const theme = useTheme();
  const option = useMemo(() => frontsOption(fronts, objectives, fidelity, theme), [fronts, objectives, fidelity, theme]);
  const element = useChart(option);
  const { before, after, fresh, lost, moved } = fronts;
  const label = `Front before with ${before.length} designs and after with ${after.length}: ${fresh.length} new, ${lost.length} lost, ${moved.length} moved.`;
  return <div ref={element} className="fronts-chart" role="img" aria-label={label} data-testid="fronts-chart" />;
}
