import { expect, test } from "vitest";
import { toTags } from "@/features/explorations/tags";

test("tags are words, each once", () => {
  expect(toTags(" a, b  a\tc ")).toEqual(["a", "b", "c"]);
  expect(toTags("")).toEqual([]);
});
