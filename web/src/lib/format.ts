/** Numbers and times for people: thousands separators, four significant digits, units. */

const LOCALE = "en-US";
const integer = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const fixed = [0, 1, 2, 3].map(
  (digits) => new Intl.NumberFormat(LOCALE, { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);

/** 18234.4 -> "18,234", 182.34 -> "182.3", 1.8234 -> "1.823", 0.00012 -> "1.20e-4". */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 10_000) return integer.format(value);
  if (size < 1e-3) return value.toExponential(2);
  return (fixed[size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3] as Intl.NumberFormat).format(value);
}

const rounded = new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 3 });

/** A number whose digits beyond the third mean nothing: 21.4, 3.05, 118. */
export const rough = (value: number): string => rounded.format(value);

export interface Quantity {
  text: string;
  unit: string;
}

const UNIT_NAMES: Record<string, string> = { us: "µs", uJ: "µJ" };
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Value and unit of a metric. Only bytes change their unit: what is compared with each other must share one. */
export function quantity(value: number, unit: string): Quantity {
  if (unit !== "bytes") return { text: number(value), unit: UNIT_NAMES[unit] ?? unit };
  const step = value < 1 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(value) / 10));
  return { text: number(value / 1024 ** step), unit: BYTE_UNITS[step] as string };
}

export function withUnit(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return "–";
  const q = quantity(value, unit);
  return `${q.text} ${q.unit}`;
}

/** 1.824 -> "1.82×". */
export function times(ratio: number): string {
  return `${(fixed[ratio < 10 ? 2 : ratio < 100 ? 1 : 0] as Intl.NumberFormat).format(ratio)}×`;
}

export function percent(ratio: number): string {
  const value = ratio * 100;
  if (value !== 0 && Math.abs(value) < 0.1) return value > 0 ? "< 0.1 %" : "> -0.1 %";
  return `${(fixed[Math.abs(value) < 10 ? 1 : 0] as Intl.NumberFormat).format(value)} %`;
}

/** A difference: 0.031 -> "+3.1 %". */
export const signedPercent = (ratio: number): string => `${ratio > 0 ? "+" : ""}${percent(ratio)}`;

/** An error or a tolerance: always scientific, so that magnitudes can be compared at a glance. */
export function scientific(value: number | null): string {
  if (value === null) return "not a number";
  return value === 0 ? "0" : value.toExponential(1);
}

/** 75 -> "1 min 15 s". */
export function duration(seconds: number): string {
  if (seconds < 10) return `${fixed[1]?.format(Math.max(0, seconds))} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** Times without a zone are UTC: that is what the API means by them. */
export function parseTime(text: string): number {
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

const calendar = new Intl.DateTimeFormat(LOCALE, { month: "short", day: "numeric", year: "numeric" });
const exact = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "medium" });

/** "just now", "5 min ago", "3 h ago", then the date. */
export function ago(text: string, now: number): string {
  const seconds = (now - parseTime(text)) / 1000;
  if (seconds < 45) return "just now";
  if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  return calendar.format(parseTime(text));
}

export function exactTime(text: string): string {
  return exact.format(parseTime(text));
}
