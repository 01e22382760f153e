import type { Page, Problem } from "@/lib/api/types";

const JSON_TYPE = /^application\/([\w.-]+\+)?json/;

/** A call that failed; `message` is what the service says about it, or what to do when it says nothing. */
export class ApiError extends Error {
  readonly title: string;
  readonly status: number;

  constructor(status: number, problem: Problem) {
    super(problem.detail ?? "The service gave no reason. Its log is in the run/ folder of the state directory.");
    this.name = "ApiError";
    this.status = status;
    this.title = problem.title ?? `The service answered ${status}`;
  }
}

async function call(path: string, init: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, {
      title: "The service does not answer",
      detail: "Start it with ./millrace up, then try again.",
    });
  }
  const isJson = JSON_TYPE.test(response.headers.get("content-type") ?? "");
  const body: unknown = isJson ? await response.json() : null;
  if (!response.ok) throw new ApiError(response.status, (body ?? {}) as Problem);
  return body;
}

// The one place where JSON becomes a type: the API's own tests hold that it sends what types.ts says.
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await call(path, signal ? { signal } : {})) as T;
}

/** `key` makes the call safe to repeat: the service answers a second one with the first one's result. */
export async function post<T>(path: string, body?: unknown, key?: string): Promise<T> {
  const headers: Record<string, string> = key ? { "Idempotency-Key": key } : {};
  if (body === undefined) return (await call(path, { method: "POST", headers })) as T;
  headers["Content-Type"] = "application/json";
  return (await call(path, { method: "POST", headers, body: JSON.stringify(body) })) as T;
}

/** Any other method: what they answer is nothing that a page needs. */
export async function send(method: "PUT" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  await call(path, body === undefined ? { method } : { method, headers, body: JSON.stringify(body) });
}

/** A query string of what is given, with its question mark. */
export function queryOf(values: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}

/** Sends a form with a file; `onProgress` hears which share of it is sent, which fetch does not tell. */
export function upload<T>(path: string, form: FormData, onProgress: (share: number) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.responseType = "text";
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onerror = () =>
      reject(
        new ApiError(0, {
          title: "The upload was cut off",
          detail: "The file may be larger than the service takes (MILLRACE_MAX_UPLOAD_BYTES), or the service was stopped.",
        }),
      );
    request.onload = () => {
      const isJson = JSON_TYPE.test(request.getResponseHeader("content-type") ?? "");
      const body: unknown = isJson ? JSON.parse(request.responseText) : null;
      if (request.status >= 200 && request.status < 300) resolve(body as T);
      else reject(new ApiError(request.status, (body ?? {}) as Problem));
    };
    request.send(form);
  });
}

/** All pages of a list. */
export async function getAll<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const separator = path.includes("?") ? "&" : "?";
    const url: string = cursor ? `${path}${separator}cursor=${encodeURIComponent(cursor)}` : path;
    const page: Page<T> = await get<Page<T>>(url, signal);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return items;
}

/** A fresh Idempotency-Key. `crypto.randomUUID` is missing on plain-http addresses other than localhost. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}
