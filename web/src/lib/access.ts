import { type Me, type Role, useMe } from "@/lib/api/access";

/** Why something may not be done, null where it may. The service decides; this only spares a person the refusal. */
export type Objection = string | null;

const ENOUGH: Record<"user" | "admin", readonly Role[]> = { user: ["user", "admin"], admin: ["admin"] };

export function objectionTo(me: Me | undefined, least: "user" | "admin", owner?: string | null): Objection {
  if (!me?.access) return null;
  if (!ENOUGH[least].includes(me.role)) return `This needs the role ${least}; your key has the role ${me.role}`;
  if (owner === undefined || me.role === "admin" || owner === me.name) return null;
  return owner ? `This belongs to ${owner}; ask that person, or an admin` : "This belongs to nobody who has a key; ask an admin";
}

/** `owner` is whose thing would be changed; left out where it is nobody's. */
export function useObjection(least: "user" | "admin", owner?: string | null): Objection {
  const { data } = useMe();
  return objectionTo(data, least, owner);
}
