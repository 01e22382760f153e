import { LineChart, ScatterChart } from "echarts/charts";
import type { LineSeriesOption, ScatterSeriesOption } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import type { GridComponentOption, TooltipComponentOption } from "echarts/components";
import { type ComposeOption, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

/** ECharts with the parts that the history and the fronts use. */
use([LineChart, ScatterChart, GridComponent, TooltipComponent, CanvasRenderer]);

export type SweepOption = ComposeOption<LineSeriesOption | ScatterSeriesOption | GridComponentOption | TooltipComponentOption>;
