import { AccessService, type Permission, type Role } from "@berthhq/client";
import { Button, Checkbox, Select, Textarea, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useText } from "../../i18n";
import { ask } from "../../shared/ask";
import { useCall, useRead } from "../../shared/calls";
import { useCan } from "../../shared/me";
import { EditForm } from "../form";
import { grouped, keyOf, titleOf } from "./names";

interface Values {
  title: string;
  description: string;
  permissions: readonly string[];
}

function versionOf(role: Role | undefined) {
  return {
    values: {
      title: role?.title ?? "",
      description: role?.description ?? "",
      permissions: role?.permissions ?? [],
    },
    etag: role?.etag ?? "",
  };
}

/** Creates or edits a custom role. */
export function RoleForm({
  role,
  roles,
  permissions,
  onClose,
}: {
  role: Role | undefined;
  roles: readonly Role[];
  permissions: readonly Permission[];
  onClose: () => void;
}) {
  const t = useText();
  const can = useCan();
  const read = useRead();
  const [key, setKey] = useState("");
  const create = useCall(AccessService.method.createRole, {
    quiet: true,
    done: ({ role: made }) => made && t.roles.made(titleOf(made, t)),
  });
  const update = useCall(AccessService.method.updateRole, { quiet: true, done: t.done.saved });
  return (
    <EditForm<Values>
      fresh={!role}
      current={versionOf(role)}
      names={{
        title: t.roles.titleField,
        description: t.fields.description,
        permissions: t.roles.permission,
      }}
      show={(_, value) => (Array.isArray(value) ? t.roles.chosen(value.length) : String(value))}
      reread={async () => {
        const answer = await read(AccessService.method.listRoles, { pageSize: 500 });
        return versionOf(answer.roles.find(({ name }) => name === role?.name) ?? role);
      }}
      save={(values, changed, etag) => {
        const put = {
          title: values.title.trim(),
          description: values.description,
          permissions: [...values.permissions],
        };
        return role
          ? update.run({
              role: { ...put, name: role.name, etag },
              updateMask: { paths: [...changed] },
            })
          : create.run({ role: { ...put, name: key || keyOf(values.title) } });
      }}
      onClose={onClose}
      aside={role && <Delete role={role} onDone={onClose} />}
    >
      {({ values, set, ...form }) => (
        <>
          <TextInput
            {...form.text("title")}
            label={t.roles.titleField}
            required
            maxLength={200}
            data-autofocus
          />
          {!role && (
            <div className="two">
              <TextInput
                label={t.roles.key}
                description={t.roles.keyNote}
                inputWrapperOrder={["label", "input", "description"]}
                placeholder={keyOf(values.title)}
                value={key}
                pattern="[a-z][a-z0-9_]{0,49}"
                onChange={(event) => setKey(event.currentTarget.value)}
              />
              <Select
                label={t.roles.copyFrom}
                clearable
                data={roles.map((one) => ({ value: one.name, label: titleOf(one, t) }))}
                onChange={(name) => {
                  const from = roles.find((one) => one.name === name);
                  set({ permissions: (from?.permissions ?? []).filter(can) });
                }}
              />
            </div>
          )}
          <Textarea
            {...form.text("description")}
            label={t.fields.description}
            autosize
            maxLength={1000}
          />
          <Chosen
            all={permissions}
            chosen={values.permissions}
            onChange={(chosen) => set({ permissions: chosen })}
          />
        </>
      )}
    </EditForm>
  );
}

function Delete({ role, onDone }: { role: Role; onDone: () => void }) {
  const t = useText();
  const remove = useCall(AccessService.method.deleteRole);
  return (
    <Button
      variant="subtle"
      color="red"
      onClick={async () => {
        const sure = await ask({
          title: t.roles.deleteTitle(titleOf(role, t)),
          body: role.holders > 0 ? t.roles.holders(role.holders) : t.roles.deleteBody,
          yes: t.roles.delete,
          danger: true,
        });
        if (sure && (await remove.run({ role: role.name, etag: role.etag }))) onDone();
      }}
    >
      {t.roles.delete}
    </Button>
  );
}

/** The permissions of a role. Users can only give permissions that they have themselves. */
function Chosen({
  all,
  chosen: names,
  onChange,
}: {
  all: readonly Permission[];
  chosen: readonly string[];
  onChange: (names: readonly string[]) => void;
}) {
  const t = useText();
  const can = useCan();
  const [find, setFind] = useState("");
  const chosen = new Set(names);
  const toggle = (which: readonly string[], on: boolean) =>
    // In the order of the list, so that removing and adding one back is no change.
    onChange(
      all.map(({ name }) => name).filter((name) => (which.includes(name) ? on : chosen.has(name))),
    );
  return (
    <>
      <div style={{ display: "flex", gap: 10, alignItems: "center" }}>
        <TextInput
          style={{ flex: 1 }}
          type="search"
          leftSection={<IconSearch size={16} aria-hidden />}
          placeholder={t.roles.find}
          aria-label={t.roles.find}
          value={find}
          onChange={(event) => setFind(event.currentTarget.value)}
        />
        <span className="muted num">{t.roles.chosen(chosen.size)}</span>
      </div>
      <div className="stack" style={{ gap: 14 }}>
        {grouped(all, find).map(([group, list]) => {
          const open = list.filter(({ name }) => can(name)).map(({ name }) => name);
          const on = list.filter(({ name }) => chosen.has(name)).length;
          return (
            <fieldset
              key={group}
              className="card"
              style={{ margin: 0, padding: "10px 14px 12px", minWidth: 0 }}
            >
              <legend className="sr">{t.roles.groups[group] ?? group}</legend>
              <Checkbox
                size="sm"
                fw={600}
                label={t.roles.groups[group] ?? group}
                checked={on === list.length}
                indeterminate={on > 0 && on < list.length}
                disabled={open.length === 0}
                onChange={(event) => toggle(open, event.currentTarget.checked)}
              />
              <div style={{ display: "grid", gap: 8, margin: "10px 0 0 6px" }}>
                {list.map(({ name, description }) => (
                  <Checkbox
                    key={name}
                    size="xs"
                    label={description}
                    description={can(name) ? name : `${name} · ${t.roles.lacking}`}
                    disabled={!can(name)}
                    checked={chosen.has(name)}
                    onChange={(event) => toggle([name], event.currentTarget.checked)}
                  />
                ))}
              </div>
            </fieldset>
          );
        })}
      </div>
    </>
  );
}
