import type { Reading } from "@/features/timing/rows";

interface Props {
  reading: Reading;
  /** Pixels from the top, and the share of the width, at which the reader points. */
  top: number;
  share: number;
}

/** Beside the pointer, on the side with more room. */
export function TimelineTip({ reading: { title, span, shares }, top, share }: Props) {
  const side = share < 0.5 ? { left: `calc(${share * 100}% + 14px)` } : { right: `calc(${(1 - share) * 100}% + 14px)` };
  return (
    <div className="tip floating" style={{ top, ...side }}>
      <strong>{title}</strong>
      <table>
        <tbody>
          {shares.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {span && <span>{span}</span>}
    </div>
  );
}
