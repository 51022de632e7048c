import type { Permission, Role } from "@berthhq/client";
import type { Messages } from "../../i18n";

export function titleOf(role: Pick<Role, "name" | "title">, t: Messages): string {
  return (t.roleNames as Record<string, string>)[role.name] ?? (role.title || role.name);
}

/** Derives a valid key from a name. */
export function keyOf(title: string): string {
  return title
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+|_+$/g, "")
    .slice(0, 50);
}

const groupOf = (permission: string) => permission.split(".")[0] ?? "";

/** Permissions by group, filtered by name or description. */
export function grouped(
  permissions: readonly Permission[],
  find: string,
): [string, Permission[]][] {
  const wanted = find.trim().toLowerCase();
  const found = permissions.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(wanted),
  );
  return [...Map.groupBy(found, ({ name }) => groupOf(name))];
}
