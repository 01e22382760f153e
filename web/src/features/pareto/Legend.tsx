const ENTRIES = [
  ["front", "Pareto front"],
  ["knee", "Knee"],
  ["feasible", "Feasible"],
  ["infeasible", "Infeasible"],
  ["passed", "C simulation passed"],
  ["failed", "failed"],
  ["running", "running"],
] as const;

export function Legend() {
  return (
    <ul className="legend" aria-label="Legend">
      {ENTRIES.map(([mark, text]) => (
        <li key={mark}>
          <i className={`mark mark-${mark}`} />
          {text}
        </li>
      ))}
    </ul>
  );
}
