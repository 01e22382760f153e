import { expect, test } from "vitest";
import { ByteCut } from "@/features/builds/byteCut";

test("what was heard before is left out, wherever it is cut", () => {
  const cut = new ByteCut();
  expect(cut.fresh("abc", 3)).toBe("abc");
  expect(cut.fresh("abc", 3)).toBe("");
  expect(cut.fresh("abcdé", 6)).toBe("dé");
  expect(cut.fresh("x", 7)).toBe("x");
});

test("a log that begins later than its first byte is taken whole", () => {
  expect(new ByteCut().fresh("tail", 4_000_000)).toBe("tail");
});
