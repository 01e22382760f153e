import { useState } from "react";
import { Toggle } from "@/components/Toggle";
import { TaskTable } from "@/features/timing/TaskTable";
import { Timeline } from "@/features/timing/Timeline";
import { taskShares } from "@/features/timing/shares";
import type { Simulation } from "@/features/timing/simulation";

const MARKS = [
  ["busy", "busy"],
  ["waiting", "waiting for input"],
  ["blocked", "blocked by a full FIFO"],
  ["idle", "idle"],
] as const;

/** What every task does over time, drawn or as a table. */
export function TimelineBlock({ simulation }: { simulation: Simulation }) {
  const [table, setTable] = useState(false);
  return (
    <section className="block" aria-label="Tasks over time">
      <div className="block-head">
        <h2>
          Tasks over time <span className="count">{simulation.tasks.length}</span>
        </h2>
        <ul className="legend" aria-label="Legend of the timeline">
          {MARKS.map(([mark, text]) => (
            <li key={mark}>
              <i className={`mark square use-${mark}`} />
              {text}
            </li>
          ))}
        </ul>
        <span className="spacer" />
        <Toggle label="As a table" on={table} onChange={setTable} />
      </div>
      <div className="timeline-scroll" tabIndex={-1}>
        {table ? <TaskTable tasks={taskShares(simulation)} /> : <Timeline simulation={simulation} />}
      </div>
    </section>
  );
}
