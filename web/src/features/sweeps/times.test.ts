import { expect, test } from "vitest";
import { inZone, until } from "@/features/sweeps/times";

test("the next run is told by the clock of its zone", () => {
  expect(inZone("2026-11-22T02:00:00Z", "Europe/Berlin")).toBe("Sun, Nov 22, 03:00");
  expect(inZone("2026-11-22T02:00:00Z", "America/New_York")).toBe("Sat, Nov 21, 21:00");
  expect(inZone("2026-11-22T02:00:00Z", "Mars/Olympus")).toBe("Sun, Nov 22, 02:00 UTC");
});

test("and by how long it is until then", () => {
  const now = Date.parse("2026-11-22T00:00:00Z");
  const at = (time: string) => until(time, now);
  expect(at("2026-11-22T00:20:00Z")).toBe("in 20 min");
  expect(at("2026-11-22T05:00:00Z")).toBe("in 5 h");
  expect(at("2026-11-25T00:00:00Z")).toBe("in 3 days");
  expect(at("2026-11-21T23:59:00Z")).toBe("due");
});
