import type { BuildEvent, Columns, PromotedEvent, SimulatedEvent, StateEvent } from "@/lib/api/types";

export interface Listeners {
  state(event: StateEvent): void;
  designs(event: Columns): void;
  build(event: BuildEvent): void;
  promoted(event: PromotedEvent): void;
  simulated(event: SimulatedEvent): void;
  /** A connection stands; what happened before it may have been missed. */
  connected(): void;
  /** The connection was lost and is being tried again. */
  lost(): void;
}

const REOPEN_MS = 3000;

/**
 * Follow an exploration until the returned function is called. A tab that nobody looks at holds no connection: browsers
 * allow six to a server, all tabs together.
 */
export function followEvents(id: string, listeners: Listeners): () => void {
  let timer = 0;
  let source: EventSource | null = null;

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const open = () => {
    close();
    const opened = new EventSource(`/v1/explorations/${encodeURIComponent(id)}/events`);
    source = opened;
    const on = <T>(name: string, listener: (event: T) => void) =>
      opened.addEventListener(name, (message: MessageEvent<string>) => listener(JSON.parse(message.data) as T));
    on<StateEvent>("state", listeners.state);
    on<Columns>("designs", listeners.designs);
    on<BuildEvent>("build", listeners.build);
    on<PromotedEvent>("promoted", listeners.promoted);
    on<SimulatedEvent>("simulated", listeners.simulated);
    opened.onopen = listeners.connected;
    opened.onerror = () => {
      listeners.lost();
      // The browser tries again by itself, from the last event, unless the answer was an HTTP error.
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
