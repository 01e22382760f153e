import { expect, test } from "vitest";
import { countWords, newestOf, wordOf } from "@/features/explorations/climb";
import type { Build } from "@/lib/api/types";

const build = (design: string, state: Build["state"], passed?: boolean) =>
  ({ id: `${design} ${state}`, design_id: design, state, verdict: passed === undefined ? null : { passed } }) as unknown as Build;

test("what is done but says no has failed", () => {
  expect(wordOf(build("a", "done", true))).toBe("passed");
  expect(wordOf(build("a", "done", false))).toBe("failed");
  expect(wordOf(build("a", "blocked"))).toBe("waiting");
});

test("a design counts once, by its newest build", () => {
  const newest = newestOf([build("a", "running"), build("b", "done", true), build("a", "failed")]);
  expect(newest.map((b) => b.id)).toEqual(["a running", "b done"]);
  expect(countWords(newest)).toEqual({ passed: 1, failed: 0, running: 1, waiting: 0, cancelled: 0 });
});
