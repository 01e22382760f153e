import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from "react";

/** Routing over the History API: a few pages and query parameters need no library. */

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

/** The query parameters, and a setter of one that replaces the current history entry. */
export function useQueryParams(): [URLSearchParams, (name: string, value: string | null) => void] {
  const search = useSyncExternalStore(subscribe, query);
  const set = (name: string, value: string | null) => {
    const params = new URLSearchParams(location.search);
    if (value === null) params.delete(name);
    else params.set(name, value);
    const text = params.toString();
    navigate(location.pathname + (text && `?${text}`), { replace: true, keepScroll: true });
  };
  return [new URLSearchParams(search), set];
}

/** Value of one query parameter, and its setter. */
export function useQueryParam(name: string): [string | null, (value: string | null) => void] {
  const [params, set] = useQueryParams();
  return [params.get(name), (value) => set(name, value)];
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
