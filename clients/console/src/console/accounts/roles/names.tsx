import type { Permission } from "@berthhq/client";
import { type Messages, useText } from "../../../i18n";
import { Tag } from "../../../shared/ui";
import { Inline } from "../../ui";

export const titleOf = ({ name, title }: { name: string; title?: string }, t: Messages): string =>
  (t.roleNames as Record<string, string>)[name] ?? (title || name);

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

/** Permissions by group, filtered by name or description. */
export function grouped(
  permissions: readonly Permission[],
  find: string,
): [string, Permission[]][] {
  const wanted = find.trim().toLowerCase();
  const found = permissions.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(wanted),
  );
  return [...Map.groupBy(found, ({ name }) => name.split(".")[0] ?? "")];
}

export function RoleTags({ roles }: { roles: readonly string[] }) {
  const t = useText();
  return (
    <Inline gap={4} align="stretch">
      {roles.map((name) => (
        <Tag key={name} tone={name === "member" ? "plain" : "accent"}>
          {titleOf({ name }, t)}
        </Tag>
      ))}
    </Inline>
  );
}
