import { useEffect, useState } from "react";
import { followEvents } from "@/features/pareto/api/followEvents";
import { getScatter } from "@/features/pareto/api/getScatter";
import { Cloud, EMPTY, type Snapshot } from "@/features/pareto/cloud";
import type { BuildEvent, StateEvent } from "@/lib/api/types";

/** Events of a burst are drawn together. */
const PUBLISH_MS = 120;

export interface Scatter {
  snapshot: Snapshot;
  loading: boolean;
  error: Error | null;
  /** False while a lost connection is being tried again. */
  connected: boolean;
}

interface Callbacks {
  onState(event: StateEvent): void;
  onBuild(event: BuildEvent): void;
}

/** All designs of an exploration, growing while it runs. `onState` and `onBuild` must not change between renders. */
export function useScatter(id: string, { onState, onBuild }: Callbacks): Scatter {
  const [scatter, setScatter] = useState<Scatter>({ snapshot: EMPTY, loading: true, error: null, connected: true });

  useEffect(() => {
    const cloud = new Cloud();
    const abort = new AbortController();
    let timer = 0;

    const publish = () => {
      timer = 0;
      setScatter((s) => ({ ...s, snapshot: cloud.snapshot() }));
    };
    const changed = () => {
      timer ||= window.setTimeout(publish, PUBLISH_MS);
    };
    const load = () =>
      getScatter(id, abort.signal).then(
        (columns) => {
          cloud.merge(columns);
          setScatter({ snapshot: cloud.snapshot(), loading: false, error: null, connected: true });
        },
        (error: Error) => {
          if (!abort.signal.aborted) setScatter((s) => ({ ...s, loading: false, error }));
        },
      );

    const close = followEvents(id, {
      state: onState,
      designs: (event) => {
        cloud.merge(event);
        changed();
      },
      build: (event) => {
        cloud.setBuild(event);
        changed();
        onBuild(event);
      },
      promoted: (event) => {
        cloud.promote(event);
        changed();
      },
      simulated: (event) => {
        cloud.setSimulated(event);
        changed();
      },
      connected: () => void load(),
      lost: () => setScatter((s) => ({ ...s, connected: false })),
    });
    return () => {
      close();
      abort.abort();
      clearTimeout(timer);
    };
  }, [id, onState, onBuild]);

  return scatter;
}
