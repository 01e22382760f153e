import { expect, test } from "vitest";
import { capabilitiesOf, shortVariant } from "@/features/farm/capabilities";

test("the queues of a stage are one capability, in the order of the ladder", () => {
  const found = capabilitiesOf({
    "csynth@2024.1": { vitis_hls: "2024.1" },
    "csynth@2023.2": { vitis_hls: "2023.2" },
    csim: { "g++": "12.2.0" },
    "measure@simulated": {},
  });
  expect(found.map((c) => c.stage)).toEqual(["csim", "csynth", "measure"]);
  expect(found[1]).toEqual({ stage: "csynth", variants: ["2023.2", "2024.1"], tools: "vitis_hls 2024.1, vitis_hls 2023.2" });
  expect(found[2]?.tools).toBe("");
});

test("the name of a shell is its card", () => {
  expect(shortVariant("2023.2:xilinx_u55c_gen3x16_xdma_3_202210_1")).toBe("2023.2 u55c");
  expect(shortVariant("xilinx_u280_gen3x16_xdma_1_202211_1")).toBe("u280");
  expect(shortVariant("2023.2")).toBe("2023.2");
  expect(shortVariant("simulated")).toBe("simulated");
});
