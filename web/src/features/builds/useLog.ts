import { useEffect, useRef, useState } from "react";
import { followLog } from "@/features/builds/api/followLog";
import { type LogText, NO_TEXT, append } from "@/features/builds/logLines";

/** Pieces of a burst are drawn together. */
const PUBLISH_MS = 100;

export interface Log extends LogText {
  ended: boolean;
  connected: boolean;
}

/** The log of a build, growing while it runs. */
export function useLog(id: string): Log {
  const [text, setText] = useState<LogText>(NO_TEXT);
  const [ended, setEnded] = useState(false);
  const [connected, setConnected] = useState(true);
  const pending = useRef("");

  useEffect(() => {
    let timer = 0;
    const publish = () => {
      timer = 0;
      const piece = pending.current;
      pending.current = "";
      if (piece) setText((known) => append(known, piece));
    };
    const close = followLog(id, {
      text: (piece) => {
        pending.current += piece;
        timer ||= window.setTimeout(publish, PUBLISH_MS);
      },
      end: () => {
        publish();
        setEnded(true);
      },
      connection: setConnected,
    });
    return () => {
      close();
      clearTimeout(timer);
      pending.current = "";
      setText(NO_TEXT);
    };
  }, [id]);

  return { ...text, ended, connected };
}
