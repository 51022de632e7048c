import { AccessService, type Permission, type Role, RoleSchema } from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { Checkbox, Group, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { useCan } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { Card } from "../../../shared/ui";
import { CallButton } from "../../../shared/ui/call-button";
import { Dimmed } from "../../ui";
import { EditForm, pick, useSave } from "../../ui/edit-form";
import { Columns, SearchInput } from "../../ui/inputs";
import { titleOf } from "../../ui/roles";
import text from "../../ui/text.module.css";
import { accountTexts } from "../texts";
import classes from "./form.module.css";
import { grouped, isAssignable, keyOf } from "./permissions";

const valuesOf = (role = create(RoleSchema)) => pick(role, "title", "description", "permissions");

interface RoleFormProps {
  /** undefined creates one. */
  role?: Role;
  roles: readonly Role[];
  permissions: readonly Permission[];
  onClose: () => void;
}

/** Creates or edits a custom role. */
export function RoleForm({ role, roles, permissions, onClose }: RoleFormProps) {
  const t = useText(accountTexts);
  const can = useCan();
  const assignable = permissions.filter(isAssignable);
  const [key, setKey] = useState("");
  const make = useSave(
    AccessService.method.createRole,
    ({ role: made }) => made && t.roles.made(titleOf(made, t)),
  );
  const update = useSave(AccessService.method.updateRole);
  return (
    <EditForm
      entity={role}
      valuesOf={valuesOf}
      names={{
        title: t.roles.titleField,
        description: t.fields.description,
        permissions: t.roles.permission,
      }}
      show={(_, value) => (Array.isArray(value) ? t.roles.chosen(value.length) : String(value))}
      save={(values, { updateMask, etag }) => {
        const input = { ...values, title: values.title.trim() };
        return role
          ? update({ name: role.name, role: input, updateMask, etag })
          : make({ name: key || keyOf(values.title), role: input });
      }}
      onClose={onClose}
      aside={
        role && (
          <CallButton
            variant="subtle"
            color="red"
            method={AccessService.method.deleteRole}
            input={{ name: role.name, etag: role.etag }}
            ask={{
              title: t.roles.deleteTitle(titleOf(role, t)),
              body: role.holders > 0 ? t.roles.holders(role.holders) : t.roles.deleteBody,
              yes: t.roles.delete,
              danger: true,
            }}
            onDone={onClose}
          >
            {t.roles.delete}
          </CallButton>
        )
      }
    >
      {({ values, set, ...form }) => (
        <>
          <TextInput {...form.text("title")} required maxLength={200} data-autofocus />
          {!role && (
            <Columns>
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
                  const names = assignable.map(({ name }) => name).filter(can);
                  set({ permissions: names.filter((name) => from?.permissions.includes(name)) });
                }}
              />
            </Columns>
          )}
          <Textarea {...form.text("description")} autosize maxLength={1000} />
          <Chosen all={assignable} {...form.value("permissions")} />
        </>
      )}
    </EditForm>
  );
}

interface ChosenProps {
  all: readonly Permission[];
  value: readonly string[];
  onChange: (names: string[]) => void;
}

/** The permissions of a role. Users can only give permissions that they have themselves. */
function Chosen({ all, value, onChange }: ChosenProps) {
  const t = useText(accountTexts);
  const can = useCan();
  const [find, setFind] = useState("");
  const chosen = new Set(value);
  const toggle = (which: readonly string[], on: boolean) =>
    // In the order of the list, so that removing and adding one back is no change.
    onChange(
      all.map(({ name }) => name).filter((name) => (which.includes(name) ? on : chosen.has(name))),
    );
  return (
    <>
      <Group gap={10} wrap="nowrap">
        <SearchInput label={t.roles.find} flex={1} value={find} onChange={setFind} />
        <Dimmed className={text.num}>{t.roles.chosen(chosen.size)}</Dimmed>
      </Group>
      <Stack gap={14}>
        {grouped(all, find).map(([group, list]) => {
          const open = list.filter(({ name }) => can(name)).map(({ name }) => name);
          const on = list.filter(({ name }) => chosen.has(name)).length;
          return (
            <Card bare as="fieldset" key={group} className={classes.group}>
              <legend className={text.hidden}>{t.roles.groups[group] ?? group}</legend>
              <Checkbox
                fw={600}
                label={t.roles.groups[group] ?? group}
                checked={on === list.length}
                indeterminate={on > 0 && on < list.length}
                disabled={open.length === 0}
                onChange={(event) => toggle(open, event.currentTarget.checked)}
              />
              <Stack gap={8} mt={10} ml={6}>
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
              </Stack>
            </Card>
          );
        })}
      </Stack>
    </>
  );
}
