import type { BuildEvent, Columns, FrontEvent, StateEvent } from "@/lib/api/types";

export interface Listeners {
  state(event: StateEvent): void;
  designs(event: Columns): void;
  front(event: FrontEvent): void;
  build(event: BuildEvent): void;
  /** A connection stands; what happened before it may have been missed. */
  connected(): void;
  /** The connection was lost and is being tried again. */
  lost(): void;
}

const REOPEN_MS = 3000;

/** Follow an exploration until the returned function is called. */
export function followEvents(id: string, listeners: Listeners): () => void {
  let timer = 0;
  let source: EventSource;

  const open = () => {
    source = new EventSource(`/v1/explorations/${encodeURIComponent(id)}/events`);
    const on = <T>(name: string, listener: (event: T) => void) =>
      source.addEventListener(name, (message: MessageEvent<string>) => listener(JSON.parse(message.data) as T));
    on<StateEvent>("state", listeners.state);
    on<Columns>("designs", listeners.designs);
    on<FrontEvent>("front", listeners.front);
    on<BuildEvent>("build", listeners.build);
    source.onopen = listeners.connected;
    source.onerror = () => {
      listeners.lost();
      // The browser tries again by itself, from the last event, unless the answer was an HTTP error.
      if (source.readyState === EventSource.CLOSED) timer = window.setTimeout(open, REOPEN_MS);
    };
  };

  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
