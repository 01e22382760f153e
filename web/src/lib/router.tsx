import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from "react";

/** Routing over the History API: three pages and one query parameter need no library. */

const CHANGED = "millrace:navigate";

function subscribe(onChange: () => void): () => void {
  addEventListener("popstate", onChange);
  addEventListener(CHANGED, onChange);
  return () => {
    removeEventListener("popstate", onChange);
    removeEventListener(CHANGED, onChange);
  };
}

const path = () => location.pathname;
const query = () => location.search;

export function navigate(to: string, options: { replace?: boolean; keepScroll?: boolean } = {}): void {
  if (options.replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  dispatchEvent(new Event(CHANGED));
  if (!options.keepScroll) scrollTo(0, 0);
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, path);
}

/** Value of a query parameter, and a setter that replaces the current history entry. */
export function useQueryParam(name: string): [string | null, (value: string | null) => void] {
  const search = useSyncExternalStore(subscribe, query);
  const set = (value: string | null) => {
    const params = new URLSearchParams(location.search);
    if (value === null) params.delete(name);
    else params.set(name, value);
    const text = params.toString();
    navigate(location.pathname + (text && `?${text}`), { replace: true, keepScroll: true });
  };
  return [new URLSearchParams(search).get(name), set];
}

/** The parameter of a path such as `/designs/:id`, or null when the path is another one. */
export function match(pattern: string, pathname: string): string | null {
  const prefix = pattern.slice(0, pattern.indexOf(":"));
  const rest = pathname.startsWith(prefix) ? pathname.slice(prefix.length).replace(/\/$/, "") : "";
  return rest && !rest.includes("/") ? decodeURIComponent(rest) : null;
}

const isPlainClick = (event: MouseEvent) =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

export function Link({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || !isPlainClick(event)) return;
    event.preventDefault();
    navigate(href);
  };
  return <a href={href} onClick={follow} {...rest} />;
}
