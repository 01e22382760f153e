import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { LogPane } from "@/features/builds/LogPane";
import { find } from "@/features/builds/logLines";
import { useLog } from "@/features/builds/useLog";
import type { Build } from "@/lib/api/types";
import { number } from "@/lib/format";

interface SearchProps {
  wanted: string;
  hits: number;
  at: number;
  onWant(wanted: string): void;
  onStep(by: number): void;
}

function Search({ wanted, hits, at, onWant, onStep }: SearchProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") onStep(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") onWant("");
  };
  return (
    <span className="log-search">
      <input
        type="search"
        aria-label="Search the log"
        placeholder="Search"
        value={wanted}
        onChange={(e) => onWant(e.target.value)}
        onKeyDown={onKeyDown}
      />
      {wanted && (
        <>
          <span className="num" role="status">
            {hits ? `${number(at + 1)} of ${number(hits)}` : "not found"}
          </span>
          <button type="button" className="button small" disabled={!hits} aria-label="Previous hit" onClick={() => onStep(-1)}>
            ↑
          </button>
          <button type="button" className="button small" disabled={!hits} aria-label="Next hit" onClick={() => onStep(1)}>
            ↓
          </button>
        </>
      )}
    </span>
  );
}

/** The log of a build: its end while it grows, any part of it by scrolling or searching. */
export function LogBlock({ build }: { build: Build }) {
  const log = useLog(build.id);
  const pane = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(build.live);
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  const hits = useMemo(() => find(log, wanted), [log.lines, wanted]); // eslint-disable-line react-hooks/exhaustive-deps
  const current = hits[at] ?? null;

  const want = (text: string) => {
    setWanted(text);
    setAt(0);
    setFollowing(false);
  };
  const step = (by: number) => hits.length && setAt((at + by + hits.length) % hits.length);
  const growing = !log.ended && build.state === "running";
  return (
    <section className="card" aria-label="Log" data-testid="log-block">
      <div className="card-head log-head">
        <h2>Log</h2>
        <span className="log-state" role="status">
          {growing && (log.connected ? (following ? "following" : "paused") : "reconnecting…")}
        </span>
        <span className="spacer" />
        <Search wanted={wanted} hits={hits.length} at={at} onWant={want} onStep={step} />
        {growing && (
          <button type="button" className="toggle alone" aria-pressed={following} onClick={() => setFollowing(!following)}>
            Follow
          </button>
        )}
        {build.log_url && (
          <a href={build.log_url} target="_blank" rel="noreferrer">
            Whole log
          </a>
        )}
      </div>
      {log.cut > 0 && <p className="hint">The first {number(log.cut)} lines are left out here; the whole log has them.</p>}
      {log.lines.length > 0 && (
        <LogPane text={log} pane={pane} following={following} onFollow={setFollowing} wanted={wanted} current={current} />
      )}
      {!log.lines.length && <p className="hint">{growing ? "Nothing was printed yet." : log.ended ? "It printed nothing." : "It is written when the build runs."}</p>}
    </section>
  );
}
