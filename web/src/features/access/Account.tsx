import { Tag } from "@/components/badges";
import { useLogOut } from "@/features/access/api/logOut";
import type { Me } from "@/lib/api/access";

const MEANING: Record<Me["role"], string> = {
  viewer: "May look at everything and change nothing",
  user: "May start work, and change what is their own",
  node: "May join the farm as a machine",
  admin: "May do everything",
};

/** Who is logged in; nothing where the service asks nobody for a key. */
export function Account({ me }: { me: Me }) {
  const logOut = useLogOut();
  if (!me.access) return null;
  return (
    <div className="account" data-testid="account">
      <span className="strong">{me.name}</span>
      <span title={MEANING[me.role]}>
        <Tag tone="neutral">{me.role}</Tag>
      </span>
      <button type="button" className="button small" disabled={logOut.isPending} onClick={() => logOut.mutate()}>
        Log out
      </button>
    </div>
  );
}
