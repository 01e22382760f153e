import { type TaskShare } from "@/features/timing/shares";
import { number, percent } from "@/lib/format";

/** What the timeline draws, as figures: one row a task, in the order that it is given. */
export function TaskTable({ tasks }: { tasks: readonly TaskShare[] }) {
  return (
    <table className="data compact" data-testid="task-table">
      <thead>
        <tr>
          <th scope="col">Task</th>
          <th scope="col" className="num">Kernel</th>
          <th scope="col" className="num">Iterations</th>
          <th scope="col" className="num" title="Cycle of its first iteration">Start</th>
          <th scope="col" className="num" title="Cycle after its last iteration">End</th>
          <th scope="col" className="num" title="Of the time of its kernel">Busy</th>
          <th scope="col" className="num">Waiting for input</th>
          <th scope="col" className="num">Blocked</th>
          <th scope="col" className="num">Idle</th>
        </tr>
      </thead>
      <tbody>
        {tasks.map((t) => (
          <tr key={t.name}>
            <td>
              <code>{t.name}</code>
            </td>
            <td className="num">{number(t.kernel)}</td>
            <td className="num">{number(t.iterations)}</td>
            <td className="num">{t.start < 0 ? "never" : number(t.start)}</td>
            <td className="num">{number(t.end)}</td>
            <td className="num">{percent(t.busy)}</td>
            <td className="num">{percent(t.empty)}</td>
            <td className="num">{percent(t.full)}</td>
            <td className="num">{percent(t.idle)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
