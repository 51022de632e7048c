import "./matrix.css";
import type { Permission, Role } from "@berthhq/client";
import { Button, TextInput } from "@mantine/core";
import { IconCheck, IconPencil, IconSearch } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { useText } from "../../i18n";
import { grouped, titleOf } from "./names";

/** Which role has which permission. */
export function Matrix({
  roles,
  permissions,
  onEdit,
}: {
  roles: readonly Role[];
  permissions: readonly Permission[];
  onEdit: ((role: Role) => void) | undefined;
}) {
  const t = useText();
  const [find, setFind] = useState("");
  const has = useMemo(
    () => new Map(roles.map((role) => [role.name, new Set(role.permissions)])),
    [roles],
  );
  return (
    <>
      <div className="filters">
        <TextInput
          type="search"
          w={280}
          leftSection={<IconSearch size={16} aria-hidden />}
          placeholder={t.roles.find}
          aria-label={t.roles.find}
          value={find}
          onChange={(event) => setFind(event.currentTarget.value)}
        />
      </div>
      <section
        className="card scroll-x"
        style={{ maxHeight: "calc(100dvh - 260px)", overflow: "auto" }}
        aria-label={t.roles.matrix}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must reach scrollable content
        tabIndex={0}
      >
        <table className="matrix">
          <thead>
            <tr>
              <th scope="col">{t.roles.permission}</th>
              {roles.map((role) => (
                <th key={role.name} scope="col">
                  {titleOf(role, t)}
                  <div className="muted" style={{ fontSize: 12, fontWeight: 450 }}>
                    {t.roles.holders(role.holders)}
                  </div>
                  {onEdit && !role.builtIn && (
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      leftSection={<IconPencil size={12} />}
                      onClick={() => onEdit(role)}
                      aria-label={t.roles.edit(titleOf(role, t))}
                    >
                      {t.actions.edit}
                    </Button>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          {grouped(permissions, find).map(([group, list]) => (
            <tbody key={group}>
              <tr className="group">
                <th colSpan={roles.length + 1} scope="colgroup">
                  {t.roles.groups[group] ?? group}
                </th>
              </tr>
              {list.map(({ name, description }) => (
                <tr key={name}>
                  <th scope="row">
                    {description}
                    <div
                      className="muted"
                      style={{ fontSize: 12, fontFamily: "var(--mantine-font-family-monospace)" }}
                    >
                      {name}
                    </div>
                  </th>
                  {roles.map((role) => {
                    const yes = has.get(role.name)?.has(name);
                    const say = yes ? t.roles.has : t.roles.lacks;
                    return (
                      <td key={role.name}>
                        {yes ? (
                          <IconCheck size={18} stroke={2.2} color="var(--good)" aria-hidden />
                        ) : (
                          <span className="muted" aria-hidden>
                            ·
                          </span>
                        )}
                        <span className="sr">{say(titleOf(role, t), name)}</span>
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      </section>
    </>
  );
}
