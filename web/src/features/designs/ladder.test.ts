import { expect, test } from "vitest";
import { mayRun, seconds, standing } from "@/features/designs/ladder";
import type { Rung } from "@/lib/api/types";

const rung = (values: Partial<Rung>): Rung => ({
  stage: "csim",
  build_id: null,
  state: null,
  passed: null,
  failure: null,
  error: null,
  waiting: null,
  started_at: null,
  finished_at: null,
  ...values,
});

test("a build that is done but says no has failed", () => {
  expect(standing(rung({ state: "done", passed: false }))).toBe("failed");
  expect(standing(rung({ state: "done", passed: true }))).toBe("passed");
  expect(standing(rung({ state: "done" }))).toBe("passed");
});

test("blocked and queued builds wait", () => {
  expect([standing(rung({ state: "blocked" })), standing(rung({ state: "queued" }))]).toEqual(["waiting", "waiting"]);
});

test("what is under way or has passed is not run again", () => {
  const states = [null, "blocked", "running", "done", "failed", "cancelled"] as const;
  expect(states.map((state) => mayRun(rung({ state })))).toEqual([true, false, false, false, true, true]);
});

test("a running stage counts up to now", () => {
  const started_at = "2026-11-21T10:00:00Z";
  const now = Date.parse("2026-11-21T10:01:30Z");
  expect(seconds(rung({ started_at }), now)).toBe(90);
  expect(seconds(rung({ started_at, finished_at: "2026-11-21T10:00:05Z" }), now)).toBe(5);
  expect(seconds(rung({}), now)).toBeNull();
});
