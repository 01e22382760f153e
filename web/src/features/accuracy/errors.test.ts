import { expect, test } from "vitest";
import { errorsOf, inWords } from "@/features/accuracy/errors";

const pair = (number: number, estimate: number, simulated: number | null) => ({ id: `d${number}`, number, estimate, simulated });

test("an error is what the estimate lacks or has too much, as a share of what the simulator says", () => {
  const errors = errorsOf([pair(0, 90, 100), pair(1, 100, null), pair(2, 220, 200), pair(3, Number.NaN, 5)]);
  expect(errors.map((e) => e.number)).toEqual([0, 2]);
  expect(errors.map((e) => e.error)).toEqual([expect.closeTo(-0.1), expect.closeTo(0.1)]);
});

test("the distribution in words: its median keeps the sign, the rest does not", () => {
  const all = { n: 3, median: 0.02, p95: 0.092, worst: 0.11, bias: -0.019 };
  expect(inWords(all)).toBe(
    "3 designs were simulated. In the median their estimates are 1.9 % too low; half of them are within 2.0 %, 95 % within 9.2 %, all within 11 %.",
  );
  expect(inWords({ ...all, p95: 0.11 })).toContain("within 2.0 %, all within 11 %.");
  expect(inWords({ ...all, n: 1, bias: 0.11 })).toBe("One design was simulated: its estimate is 11 % too high.");
});
