import { expect, test } from "vitest";
import { objectionTo } from "@/lib/access";
import type { Me } from "@/lib/api/access";

const me = (role: Me["role"], name: string | null = "ada"): Me => ({ access: true, name, role });

test("where nobody is asked for a key everybody may do everything", () => {
  expect(objectionTo({ access: false, name: null, role: "admin" }, "admin", "bob")).toBeNull();
  expect(objectionTo(undefined, "admin")).toBeNull();
});

test("a role that is not enough is named", () => {
  expect(objectionTo(me("viewer"), "user")).toBe("This needs the role user; your key has the role viewer");
  expect(objectionTo(me("user"), "admin")).toContain("role admin");
  expect(objectionTo(me("node"), "user")).toContain("role node");
});

test("what is another one's is an admin's to change", () => {
  expect(objectionTo(me("user"), "user", "ada")).toBeNull();
  expect(objectionTo(me("user"), "user", "bob")).toBe("This belongs to bob; ask that person, or an admin");
  expect(objectionTo(me("user"), "user", null)).toContain("nobody who has a key");
  expect(objectionTo(me("admin"), "user", "bob")).toBeNull();
});
