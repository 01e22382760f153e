import { Toggle } from "@/components/Toggle";
import type { Objective } from "@/lib/api/types";
import type { Axes } from "@/lib/front";
import { title } from "@/lib/objectives";

interface Props {
  objectives: readonly Objective[];
  axes: Axes;
  onChange(axes: Axes): void;
}

/** Which two of three objectives the axes show; the third is the size of the front's designs. */
export function AxesSwitch({ objectives, axes, onChange }: Props) {
  const pairs: Axes[] = [[0, 1], [0, 2], [1, 2]];
  const name = (axis: number) => title(objectives[axis]?.name ?? "");
  return (
    <div className="toggles" role="group" aria-label="Axes">
      {pairs.map((pair) => (
        <Toggle
          key={pair.join()}
          label={`${name(pair[0])} / ${name(pair[1])}`}
          on={pair.join() === axes.join()}
          onChange={() => onChange(pair)}
        />
      ))}
    </div>
  );
}
