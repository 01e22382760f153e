import { expect, test } from "vitest";
import { proposedName } from "@/features/catalog/names";

test("a model is called after its file, in characters that the service takes", () => {
  expect(proposedName("vit block.v2.onnx")).toBe("vit_block.v2");
  expect(proposedName("__x.mlir")).toBe("x");
});

test("a config.json says nothing about the name", () => {
  expect(proposedName("config.json")).toBe("");
});
