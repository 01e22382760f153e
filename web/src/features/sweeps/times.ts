import { parseTime } from "@/lib/format";

/** A moment on the clock of an IANA zone, as its people read it: "Sun, Nov 22, 03:00". */
export function inZone(time: string, zone: string): string {
  const options: Intl.DateTimeFormatOptions = { weekday: "short", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  try {
    return new Intl.DateTimeFormat("en-US", { ...options, timeZone: zone }).format(parseTime(time));
  } catch {
    // The browser knows fewer zones than the service.
    return `${new Intl.DateTimeFormat("en-US", { ...options, timeZone: "UTC" }).format(parseTime(time))} UTC`;
  }
}

/** "in 5 min", "in 3 h", "in 2 days"; "due" when it has come. */
export function until(time: string, now: number): string {
  const minutes = (parseTime(time) - now) / 60_000;
  if (minutes <= 0) return "due";
  if (minutes < 60) return `in ${Math.max(1, Math.round(minutes))} min`;
  if (minutes < 48 * 60) return `in ${Math.round(minutes / 60)} h`;
  return `in ${Math.round(minutes / 1440)} days`;
}
