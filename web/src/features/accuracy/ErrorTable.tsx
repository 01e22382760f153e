import type { DesignError } from "@/features/accuracy/errors";
import { number, signedPercent, withUnit } from "@/lib/format";

interface Props {
  errors: readonly DesignError[];
  front: ReadonlySet<string>;
  onSelect(id: string): void;
}

export function ErrorTable({ errors, front, onSelect }: Props) {
  return (
    <table className="data compact">
      <thead>
        <tr>
          <th scope="col">Design</th>
          <th scope="col" className="num">Estimate</th>
          <th scope="col" className="num">Simulated</th>
          <th scope="col" className="num">Error</th>
          <th scope="col">Front</th>
        </tr>
      </thead>
      <tbody>
        {errors.map((e) => (
          <tr key={e.id}>
            <td>
              <button type="button" className="link" onClick={() => onSelect(e.id)}>
                Design {number(e.number)}
              </button>
            </td>
            <td className="num">{withUnit(e.estimate, "us")}</td>
            <td className="num">{withUnit(e.simulated, "us")}</td>
            <td className="num">{signedPercent(e.error)}</td>
            <td>{front.has(e.id) ? "on it" : ""}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
