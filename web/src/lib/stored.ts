import { useState } from "react";

/** A choice of the reader that outlives the page, such as the scale of the axes. */
export function useStoredFlag(name: string, initial: boolean): [boolean, (value: boolean) => void] {
  const key = `millrace.${name}`;
  const [value, setValue] = useState(() => {
    const stored = localStorage.getItem(key);
    return stored === null ? initial : stored === "1";
  });
  const set = (next: boolean) => {
    localStorage.setItem(key, next ? "1" : "0");
    setValue(next);
  };
  return [value, set];
}
