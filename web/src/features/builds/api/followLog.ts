import { ByteCut } from "@/features/builds/byteCut";
import type { BuildState } from "@/lib/api/types";

export interface LogListeners {
  text(text: string): void;
  /** The log is whole. */
  end(state: BuildState): void;
  connection(stands: boolean): void;
}

const REOPEN_MS = 3000;

/**
 * Follow the log of a build until the returned function is called. A tab that nobody looks at holds no connection; one
 * that is opened again repeats the log from its start, of which what is known is left out.
 */
export function followLog(id: string, listeners: LogListeners): () => void {
  const cut = new ByteCut();
  let timer = 0;
  let source: EventSource | null = null;
  let ended = false;

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const open = () => {
    close();
    if (ended) return;
    const opened = new EventSource(`/v1/builds/${encodeURIComponent(id)}/log/stream`);
    source = opened;
    opened.addEventListener("log", (event: MessageEvent<string>) => {
      const text = cut.fresh(JSON.parse(event.data) as string, Number(event.lastEventId));
      if (text) listeners.text(text);
    });
    opened.addEventListener("end", (event: MessageEvent<string>) => {
      ended = true;
      close();
      listeners.end((JSON.parse(event.data) as { state: BuildState }).state);
    });
    opened.onopen = () => listeners.connection(true);
    opened.onerror = () => {
      listeners.connection(false);
      // The browser tries again by itself unless the answer was an HTTP error.
      if (opened.readyState === EventSource.CLOSED) timer = window.setTimeout(open, REOPEN_MS);
    };
  };
  const followSight = () => (document.hidden ? close() : open());

  followSight();
  document.addEventListener("visibilitychange", followSight);
  return () => {
    document.removeEventListener("visibilitychange", followSight);
    close();
  };
}
