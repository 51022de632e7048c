import type { Member, Permission } from "@berthhq/client";
import { useMe } from "../../../shared/auth/user";
import { contains, fold } from "../../../shared/search/fold";
import { useGives } from "../../ui/roles";

/** Whether the user may act on a member: only owners act on owners and admins, who may edit themselves. */
export function useManages(): (member: Pick<Member, "id" | "roles">) => boolean {
  const me = useMe().member.id;
  const gives = useGives();
  return ({ id, roles }) => id === me || roles.every(gives);
}

/** Whether roles of the tenant's own can have a permission. */
export const isAssignable = ({ defaultRoles }: Permission): boolean =>
  defaultRoles.some((role) => role !== "owner");

/** Derives a valid key from a name. */
export function keyOf(title: string): string {
  return fold(title)
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+|_+$/g, "")
    .slice(0, 50);
}

/** Permissions by group, filtered by name or description. */
export function grouped(
  permissions: readonly Permission[],
  find: string,
): [string, Permission[]][] {
  const found = permissions.filter(({ name, description }) =>
    contains(`${name} ${description}`, find),
  );
  return [...Map.groupBy(found, ({ name }) => name.split(".")[0] ?? "")];
}
