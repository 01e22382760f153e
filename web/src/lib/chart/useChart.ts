import { type EChartsCoreOption, type EChartsType, init } from "echarts/core";
import { type RefObject, useEffect, useRef } from "react";

/**
 * A chart on canvas that fills the element of the returned ref and follows its size. `setup` runs once, before the
 * first option. Options are merged by the ids of their series, so that a tooltip stays open while data arrives.
 */
export function useChart(
  option: EChartsCoreOption,
  setup?: (chart: EChartsType, host: HTMLElement) => void,
): RefObject<HTMLDivElement | null> {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(null);
  const prepare = useRef(setup);

  useEffect(() => {
    if (!host.current) return;
    const made = init(host.current, null, { renderer: "canvas" });
    chart.current = made;
    prepare.current?.(made, host.current);
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(host.current);
    return () => {
      observer.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, []);

  useEffect(() => {
    chart.current?.setOption(option);
  }, [option]);

  return host;
}
