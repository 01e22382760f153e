import type { Theme } from "@/lib/chart/theme";

/** The frame of every chart's tooltip; what it says is the chart's own. */
export const tooltipFrame = (theme: Theme) => ({
  confine: true,
  transitionDuration: 0,
  backgroundColor: theme.surface,
  borderColor: theme.line,
  padding: 0,
  textStyle: { color: theme.ink, fontFamily: theme.font, fontSize: 13 },
});
