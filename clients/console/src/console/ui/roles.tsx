import { type Texts, useText } from "../../shared/i18n";
import { Tag } from "../../shared/ui";
import { Inline } from "./text";

/** The name of a role: built-in ones are translated. */
export const titleOf = ({ name, title }: { name: string; title?: string }, t: Texts): string =>
  (t.roleNames as Record<string, string>)[name] ?? (title || name);

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
