/** Lines that are kept; the whole log is a link away. */
export const MOST_LINES = 100_000;

// Colours and cursor moves of terminals.
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** What of a log is shown. `lines` may end with one that is not finished. */
export interface LogText {
  readonly lines: readonly string[];
  /** Lines that were cut off its head. */
  readonly cut: number;
}

export const NO_TEXT: LogText = { lines: [], cut: 0 };

/** The log with `text` behind it. A carriage return begins the line anew, as a progress bar means it. */
export function append({ lines, cut }: LogText, text: string, most = MOST_LINES): LogText {
  const pieces = ((lines.at(-1) ?? "") + text.replace(ESCAPES, "").replaceAll("\r\n", "\n")).split("\n");
  const all = [...lines.slice(0, -1), ...pieces.map((line) => line.slice(line.lastIndexOf("\r") + 1))];
  const excess = Math.max(0, all.length - most);
  return { lines: excess ? all.slice(excess) : all, cut: cut + excess };
}

/** Numbers of the lines that contain `wanted`, without regard to case. */
export function find({ lines }: LogText, wanted: string): number[] {
  const needle = wanted.toLowerCase();
  if (!needle) return [];
  return lines.flatMap((line, i) => (line.toLowerCase().includes(needle) ? [i] : []));
}

/** The rows that a window of `height` shows, with some around it so that scrolling does not flicker. */
export function visible(count: number, top: number, height: number, row: number): [from: number, to: number] {
  const around = 20;
  const from = Math.max(0, Math.floor(top / row) - around);
  return [Math.min(from, count), Math.min(count, Math.ceil((top + height) / row) + around)];
}

const BAD = /\b(error|fatal|failed)\b/i;
const WARN = /\b(critical warning|warning)\b/i;

/** How a line of a tool is coloured. */
export const toneOf = (line: string): "" | "bad" | "warn" => (WARN.test(line) ? "warn" : BAD.test(line) ? "bad" : "");
