import { expect, test } from "vitest";
import { NO_TEXT, append, find, toneOf, visible } from "@/features/builds/logLines";

const log = (...pieces: string[]) => pieces.reduce((text, piece) => append(text, piece), NO_TEXT);

test("pieces become lines wherever they are cut", () => {
  expect(log("one\ntw", "o\nthree").lines).toEqual(["one", "two", "three"]);
  expect(log("one\r\ntwo").lines).toEqual(["one", "two"]);
});

test("a progress bar is one line, and colours are none", () => {
  expect(log("10 %\r50 %\r100 %\ndone").lines).toEqual(["100 %", "done"]);
  expect(log("\u001b[31mERROR\u001b[0m: x").lines).toEqual(["ERROR: x"]);
});

test("a long log loses its head and says so", () => {
  const text = append(append(NO_TEXT, "1\n2\n3\n4", 3), "\n5", 3);
  expect(text).toEqual({ lines: ["3", "4", "5"], cut: 2 });
});

test("a search finds lines without regard to case", () => {
  const text = log("INFO a\nwarning b\nInfo c");
  expect(find(text, "info")).toEqual([0, 2]);
  expect(find(text, "")).toEqual([]);
});

test("only what can be seen is drawn", () => {
  expect(visible(1000, 2000, 200, 20)).toEqual([80, 130]);
  expect(visible(5, 0, 400, 20)).toEqual([0, 5]);
  expect(visible(0, 0, 400, 20)).toEqual([0, 0]);
});

test("errors and warnings stand out", () => {
  expect(["ERROR: [HLS 200] x", "WARNING: error bound", "INFO: 0 errors"].map(toneOf)).toEqual(["bad", "warn", ""]);
});
