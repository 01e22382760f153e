import { expect, test } from "vitest";
import { ago, duration, number, parseTime, percent, quantity, rough, scientific, times, withUnit } from "@/lib/format";

test.each([
  [18_234.4, "18,234"],
  [1_175_680, "1,175,680"],
  [1823.4, "1,823"],
  [182.34, "182.3"],
  [18.234, "18.23"],
  [1.8234, "1.823"],
  [7, "7"],
  [0, "0"],
  [0.00012, "1.20e-4"],
  [Number.NaN, "–"],
])("number %d is %s", (value, text) => expect(number(value)).toBe(text));

test("only bytes change their unit", () => {
  expect(quantity(16_777_216, "bytes")).toEqual({ text: "16", unit: "MiB" });
  expect(quantity(0, "bytes")).toEqual({ text: "0", unit: "B" });
  expect(withUnit(28_586.03, "us")).toBe("28,586 µs");
  expect(withUnit(null, "uJ")).toBe("–");
});

test("ratios and errors", () => {
  expect([percent(0.853), percent(0.027), percent(0.0004), percent(0)]).toEqual(["85 %", "2.7 %", "< 0.1 %", "0.0 %"]);
  expect([times(1), times(12.34), times(230.6)]).toEqual(["1.00×", "12.3×", "231×"]);
  expect([scientific(0), scientific(4.4e-6), scientific(null)]).toEqual(["0", "4.4e-6", "not a number"]);
  expect(rough(21.428)).toBe("21.4");
});

test("times without a zone are UTC", () => {
  expect(parseTime("2026-11-21T10:00:00")).toBe(Date.UTC(2026, 10, 21, 10));
  expect(parseTime("2026-11-21T10:00:00+01:00")).toBe(Date.UTC(2026, 10, 21, 9));
});

test("spans of time", () => {
  const start = "2026-11-21T10:00:00Z";
  const later = (seconds: number) => parseTime(start) + 1000 * seconds;
  expect([5, 300, 7200].map((s) => ago(start, later(s)))).toEqual(["just now", "5 min ago", "2 h ago"]);
  expect([6.44, 42, 75, 3720].map(duration)).toEqual(["6.4 s", "42 s", "1 min 15 s", "1 h 2 min"]);
});
