import { expect, test } from "vitest";
import { boundsText } from "@/features/explorations/bounds";

test("bounds are said in the order of the resources", () => {
  expect(boundsText({ hbm_ports: 8, lut: 40 })).toBe("LUT 40 %, HBM ports 8");
  expect(boundsText({ energy: 400, dies: 1, area: 25.5 })).toBe("Dies 1, Energy 400 µJ, Area 25.5 %");
  expect(boundsText({})).toBe("");
});
