import { CustomChart, type CustomSeriesOption } from "echarts/charts";
import { GridComponent, type GridComponentOption } from "echarts/components";
import { type ComposeOption, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

/** ECharts with the parts that the timeline uses. */
use([CustomChart, GridComponent, CanvasRenderer]);

export type TimelineOption = ComposeOption<CustomSeriesOption | GridComponentOption>;
export type { CustomSeriesOption };
