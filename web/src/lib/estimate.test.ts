import { expect, test } from "vitest";
import { errorInWords, estimateError } from "@/lib/estimate";

test("the error is a share of the better value", () => {
  expect(estimateError(100, 80)).toBeCloseTo(0.25);
  expect(estimateError(60, 80)).toBeCloseTo(-0.25);
});

test("words say on which side the estimate is", () => {
  expect(errorInWords(0.1)).toBe("10 % too high");
  expect(errorInWords(-0.04)).toBe("4.0 % too low");
  expect(errorInWords(-0.0001)).toBe("exact");
});
