interface Props {
  value: number;
  max: number;
  busy: boolean;
  label: string;
}

export function Progress({ value, max, busy, label }: Props) {
  const share = max > 0 ? Math.min(1, value / max) : 0;
  return (
    <span
      className={busy ? "progress busy" : "progress"}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
    >
      <i style={{ width: `${share * 100}%` }} />
    </span>
  );
}
