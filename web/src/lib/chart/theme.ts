import { useSyncExternalStore } from "react";

/** Colours of the charts, from the page's CSS variables: canvas can not read them itself. */
export interface Theme {
  ink: string;
  muted: string;
  line: string;
  grid: string;
  surface: string;
  cloud: string;
  infeasible: string;
  accent: string;
  tint: string;
  good: string;
  bad: string;
  busy: string;
  knee: string;
  waiting: string;
  blocked: string;
  estimate: string;
  simulate: string;
  font: string;
}

const VARIABLES: Record<keyof Theme, string> = {
  ink: "--ink",
  muted: "--ink-2",
  line: "--line-strong",
  grid: "--line",
  surface: "--surface",
  cloud: "--cloud",
  infeasible: "--infeasible",
  accent: "--accent",
  tint: "--accent-tint",
  good: "--good",
  bad: "--bad",
  busy: "--busy",
  knee: "--knee",
  waiting: "--waiting",
  blocked: "--blocked",
  estimate: "--estimate",
  simulate: "--simulate",
  font: "--font",
};

const dark = matchMedia("(prefers-color-scheme: dark)");
const cache = new Map<boolean, Theme>();

function read(): Theme {
  const known = cache.get(dark.matches);
  if (known) return known;
  const style = getComputedStyle(document.documentElement);
  const entries = Object.entries(VARIABLES).map(([name, variable]) => [name, style.getPropertyValue(variable).trim()]);
  const theme = Object.fromEntries(entries) as Theme;
  cache.set(dark.matches, theme);
  return theme;
}

function subscribe(onChange: () => void): () => void {
  dark.addEventListener("change", onChange);
  return () => dark.removeEventListener("change", onChange);
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, read);
}
