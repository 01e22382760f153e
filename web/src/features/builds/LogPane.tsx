import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { type LogText, toneOf, visible } from "@/features/builds/logLines";

const ROW = 18;

interface Props {
  text: LogText;
  pane: RefObject<HTMLDivElement | null>;
  /** The end stays in sight while the log grows. */
  following: boolean;
  onFollow(following: boolean): void;
  wanted: string;
  /** The line that the search stands at. */
  current: number | null;
}

function Line({ text, wanted }: { text: string; wanted: string }) {
  const at = wanted ? text.toLowerCase().indexOf(wanted.toLowerCase()) : -1;
  if (at < 0) return text || " ";
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + wanted.length)}</mark>
      {text.slice(at + wanted.length)}
    </>
  );
}

/** The lines in sight, and no others: logs have a hundred thousand. */
export function LogPane({ text, pane, following, onFollow, wanted, current }: Props) {
  const [view, setView] = useState({ top: 0, height: 400 });
  const { cut } = text;
  // Behind the last line break there is no line yet.
  const lines = text.lines.at(-1) === "" ? text.lines.slice(0, -1) : text.lines;

  // Where the pane stood when that was last known. Lines that arrive before the event of a scroll must not undo it.
  const known = useRef(0);

  useLayoutEffect(() => {
    const host = pane.current;
    if (!following || !host || host.scrollTop < known.current) return;
    host.scrollTop = host.scrollHeight;
    known.current = host.scrollTop;
  }, [following, lines, pane]);
  useEffect(() => {
    if (current === null || !pane.current) return;
    pane.current.scrollTop = Math.max(0, current * ROW - pane.current.clientHeight / 2);
  }, [current, pane]);

  const onScroll = () => {
    const host = pane.current;
    if (!host) return;
    known.current = host.scrollTop;
    setView({ top: host.scrollTop, height: host.clientHeight });
    onFollow(host.scrollTop + host.clientHeight >= host.scrollHeight - ROW);
  };
  const [from, to] = visible(lines.length, view.top, view.height, ROW);
  return (
    <div ref={pane} className="log" role="log" aria-live="off" aria-label="Log" tabIndex={0} onScroll={onScroll} data-testid="log">
      <div className="log-all" style={{ height: lines.length * ROW }}>
        <ol className="log-lines" style={{ top: from * ROW }}>
          {lines.slice(from, to).map((line, i) => (
            <li key={from + i} className={`${toneOf(line)}${from + i === current ? " current" : ""}`}>
              <span className="log-number">{cut + from + i + 1}</span>
              <Line text={line} wanted={wanted} />
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}
