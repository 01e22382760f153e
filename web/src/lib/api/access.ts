import { type QueryClient, useQuery } from "@tanstack/react-query";
import { get } from "@/lib/api/http";

export type Role = "viewer" | "user" | "node" | "admin";

/** Who asks. `access`: whether the service asks for keys at all; without, everybody is an admin without a name. */
export interface Me {
  access: boolean;
  name: string | null;
  role: Role;
}

export const ME_KEY = ["me"] as const;

/** Fails with 401 while nobody is logged in. */
export function useMe() {
  return useQuery({
    queryKey: ME_KEY,
    queryFn: ({ signal }) => get<Me>("/v1/me", signal),
    staleTime: Infinity,
  });
}

/** After a login or a logout nothing that is known may stay: it was another one's. */
export function forgetEverything(client: QueryClient): Promise<void> {
  client.removeQueries({ predicate: (query) => query.queryKey[0] !== ME_KEY[0] });
  return client.resetQueries({ queryKey: ME_KEY });
}
