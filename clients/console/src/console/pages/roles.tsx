import {
  AccessService,
  type CheckAccessResponse,
  type Member,
  MemberService,
  type Permission,
  type Role,
} from "@berthhq/client";
import { callUnaryMethod, useQuery, useTransport } from "@connectrpc/connect-query";
import { Alert, Button, Checkbox, Drawer, Select, Tabs, Textarea, TextInput } from "@mantine/core";
import { IconCheck, IconPencil, IconPlus, IconSearch } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { type Messages, useSpeech, useText } from "../../i18n";
import { useDescribed } from "../../i18n/permissions";
import { useAll } from "../../shared/all";
import { ask } from "../../shared/ask";
import { useDo } from "../../shared/calls";
import { useEditing } from "../../shared/editing";
import { explain } from "../../shared/errors";
import { useCan } from "../../shared/root";
import { here } from "../../shared/time";
import { Card, Face, PageHead, Shown, State, Tag } from "../../shared/ui";
import { Conflict } from "../conflict";
import { MemberPicker } from "../picker";

export function titleOf(role: Pick<Role, "name" | "title">, t: Messages): string {
  return (t.roleNames as Record<string, string>)[role.name] ?? (role.title || role.name);
}

const groupOf = (permission: string) => permission.split(".")[0] ?? "";

export function RolesPage() {
  const t = useText();
  const can = useCan();
  const [params, setParams] = useSearchParams();
  const [edited, setEdited] = useState<Role | "new">();
  const roles = useAll(AccessService.method.listRoles, {}, (answer) => answer.roles, {
    refetchInterval: 60_000,
  });
  const described = useDescribed();
  const permissions = useQuery(
    AccessService.method.listPermissions,
    {},
    {
      staleTime: Number.POSITIVE_INFINITY,
      select: (answer) => ({
        permissions: answer.permissions.map((one) => ({
          ...one,
          description: described.permissions[one.name] ?? one.description,
        })),
      }),
    },
  );
  const tab = params.get("tab") ?? "matrix";
  const open = roles.data?.find((role) => edited !== "new" && role.name === edited?.name) ?? edited;
  return (
    <div className="page">
      <PageHead title={t.nav.roles} note={t.roles.note}>
        {can("role.write") && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setEdited("new")}>
            {t.roles.add}
          </Button>
        )}
      </PageHead>
      <Shown of={roles}>
        {(all) => (
          <Shown of={permissions}>
            {({ permissions: every }) => (
              <>
                <Tabs
                  value={tab}
                  onChange={(value) =>
                    setParams(value === "matrix" ? {} : { tab: value ?? "" }, { replace: true })
                  }
                  keepMounted={false}
                >
                  <Tabs.List mb="md">
                    <Tabs.Tab value="matrix">{t.roles.matrix}</Tabs.Tab>
                    {can("member.read") && <Tabs.Tab value="people">{t.roles.people}</Tabs.Tab>}
                    {can("access.check") && <Tabs.Tab value="ask">{t.roles.ask}</Tabs.Tab>}
                  </Tabs.List>
                  <Tabs.Panel value="matrix">
                    <Matrix
                      roles={all}
                      permissions={every}
                      onEdit={can("role.write") ? setEdited : undefined}
                    />
                  </Tabs.Panel>
                  <Tabs.Panel value="people">
                    <People roles={all} />
                  </Tabs.Panel>
                  <Tabs.Panel value="ask">
                    <Ask permissions={every} roles={all} />
                  </Tabs.Panel>
                </Tabs>
                <Drawer
                  opened={edited !== undefined}
                  onClose={() => setEdited(undefined)}
                  title={open && open !== "new" ? t.roles.edit(titleOf(open, t)) : t.roles.add}
                  size={520}
                >
                  {open && (
                    <RoleForm
                      role={open === "new" ? undefined : open}
                      roles={all}
                      permissions={every}
                      onClose={() => setEdited(undefined)}
                    />
                  )}
                </Drawer>
              </>
            )}
          </Shown>
        )}
      </Shown>
    </div>
  );
}

function grouped(permissions: readonly Permission[], find: string): [string, Permission[]][] {
  const wanted = find.trim().toLowerCase();
  const groups = new Map<string, Permission[]>();
  for (const permission of permissions) {
    const { name, description } = permission;
    if (wanted && !`${name} ${description}`.toLowerCase().includes(wanted)) continue;
    groups.set(groupOf(name), [...(groups.get(groupOf(name)) ?? []), permission]);
  }
  return [...groups];
}

function Matrix({
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
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

/** A key made of a title, as the contract wants keys. */
export function keyOf(title: string): string {
  return title
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+|_+$/g, "")
    .slice(0, 50);
}

function RoleForm({
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
  const { locale } = useSpeech();
  const can = useCan();
  const transport = useTransport();
  const [find, setFind] = useState("");
  const [key, setKey] = useState("");
  const [error, setError] = useState<unknown>();
  const create = useDo(AccessService.method.createRole, {
    quiet: true,
    done: ({ role: made }) => made && t.roles.made(titleOf(made, t)),
  });
  const update = useDo(AccessService.method.updateRole, { quiet: true, done: t.done.saved });
  const remove = useDo(AccessService.method.deleteRole);
  const editing = useEditing<Values>({
    current: versionOf(role),
    failed: setError,
    reread: async () => {
      const answer = await callUnaryMethod(transport, AccessService.method.listRoles, {
        pageSize: 500,
      });
      return versionOf(answer.roles.find(({ name }) => name === role?.name) ?? role);
    },
    save: (values, changed, etag) => {
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
    },
  });
  const { values, set } = editing;
  const chosen = new Set(values.permissions);
  const toggle = (names: readonly string[], on: boolean) =>
    set({
      // In the order of the list, so that putting one back is no change.
      permissions: permissions
        .map(({ name }) => name)
        .filter((name) => (names.includes(name) ? on : chosen.has(name))),
    });
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        void editing.submit().then((saved) => saved && onClose());
      }}
    >
      <Conflict
        theirs={editing.theirs}
        names={{
          title: t.roles.titleField,
          description: t.fields.description,
          permissions: t.roles.permission,
        }}
        show={(_, value) => (Array.isArray(value) ? t.roles.chosen(value.length) : String(value))}
        onTake={editing.takeTheirs}
      />
      <TextInput
        label={t.roles.titleField}
        required
        maxLength={200}
        value={values.title}
        onChange={(event) => set({ title: event.currentTarget.value })}
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
        label={t.fields.description}
        autosize
        maxLength={1000}
        value={values.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
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
        {grouped(permissions, find).map(([group, list]) => {
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
      {error !== undefined && <Alert color="red">{explain(error, t, locale, here())}</Alert>}
      <div className="end">
        {role && (
          <Button
            variant="subtle"
            color="red"
            mr="auto"
            onClick={async () => {
              const answer = await ask({
                title: t.roles.deleteTitle(titleOf(role, t)),
                body: role.holders > 0 ? t.roles.holders(role.holders) : t.roles.deleteBody,
                yes: t.roles.delete,
                danger: true,
              });
              if (answer && (await remove.run({ role: role.name, etag: role.etag }))) onClose();
            }}
          >
            {t.roles.delete}
          </Button>
        )}
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={editing.saving} disabled={editing.changed.length === 0}>
          {role ? t.actions.save : t.actions.create}
        </Button>
      </div>
    </form>
  );
}

function People({ roles }: { roles: readonly Role[] }) {
  const t = useText();
  const [chosen, setChosen] = useState("owner");
  const members = useAll(
    MemberService.method.listMembers,
    { role: chosen },
    (answer) => answer.members,
    { keep: true },
  );
  const described = useDescribed();
  const role = roles.find(({ name }) => name === chosen);
  return (
    <div className="split" style={{ gridTemplateColumns: "240px minmax(0, 1fr)" }}>
      <div className="card" style={{ padding: 6 }}>
        {roles.map((one) => (
          <Button
            key={one.name}
            fullWidth
            variant={one.name === chosen ? "light" : "subtle"}
            color={one.name === chosen ? "tide" : "gray"}
            justify="space-between"
            rightSection={<span className="num">{one.holders}</span>}
            aria-pressed={one.name === chosen}
            onClick={() => setChosen(one.name)}
          >
            {titleOf(one, t)}
          </Button>
        ))}
      </div>
      <Card
        bare
        title={role && titleOf(role, t)}
        extra={<Tag tone="plain">{role?.builtIn ? t.roles.builtIn : t.roles.own}</Tag>}
      >
        <p className="muted" style={{ margin: 0, padding: "12px 16px 4px", fontSize: 13 }}>
          {role && ((role.builtIn && described.roles[role.name]) || role.description)}
        </p>
        <Shown of={members}>
          {(all) =>
            all.length === 0 ? (
              <State title={t.roles.nobody} />
            ) : (
              <table className="table">
                <tbody>
                  {all.map((member) => (
                    <tr key={member.id} className="link">
                      <td>
                        <span className="person">
                          <Face name={member.name} />
                          <Link className="cover" to={`/members/${member.id}?tab=roles`}>
                            {member.name}
                          </Link>
                        </span>
                      </td>
                      <td className="muted">{member.email}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )
          }
        </Shown>
      </Card>
    </div>
  );
}

function Ask({
  permissions,
  roles,
}: {
  permissions: readonly Permission[];
  roles: readonly Role[];
}) {
  const t = useText();
  const [member, setMember] = useState<Member>();
  const [permission, setPermission] = useState<string | null>(null);
  const answer = useQuery(
    AccessService.method.checkAccess,
    { who: { case: "memberId", value: member?.id ?? "" }, permission: permission ?? "" },
    { enabled: Boolean(member && permission) },
  );
  const names = (list: readonly string[]) =>
    list
      .map((name) => titleOf(roles.find((role) => role.name === name) ?? { name, title: "" }, t))
      .join(", ");
  return (
    <div style={{ maxWidth: 620 }} className="stack">
      <p className="muted" style={{ margin: 0 }}>
        {t.roles.askNote}
      </p>
      <div className="form">
        <MemberPicker label={t.roles.who} value={member} onChange={setMember} />
        <Select
          label={t.roles.what}
          searchable
          required
          value={permission}
          onChange={setPermission}
          data={grouped(permissions, "").map(([group, list]) => ({
            group: t.roles.groups[group] ?? group,
            items: list.map(({ name, description }) => ({
              value: name,
              label: `${description} (${name})`,
            })),
          }))}
        />
      </div>
      {member && permission && (
        <div aria-live="polite">
          <Shown of={answer} rows={2}>
            {(said) => <Verdict said={said} name={member.name} names={names} />}
          </Shown>
        </div>
      )}
    </div>
  );
}

function Verdict({
  said,
  name,
  names,
}: {
  said: CheckAccessResponse;
  name: string;
  names: (list: readonly string[]) => string;
}) {
  const t = useText();
  return (
    <div className="card" style={{ padding: 18 }}>
      <p
        style={{
          margin: "0 0 10px",
          fontSize: 18,
          fontWeight: 620,
          color: said.allowed ? "var(--good)" : "var(--bad)",
        }}
      >
        {said.allowed ? t.roles.yes(name) : t.roles.no(name)}
      </p>
      <dl className="facts">
        {said.throughRoles.length > 0 && (
          <>
            <dt>{t.roles.through}</dt>
            <dd>{names(said.throughRoles)}</dd>
          </>
        )}
        <dt>{t.roles.wouldGive}</dt>
        <dd>{names(said.grantingRoles) || "–"}</dd>
      </dl>
      {!said.active && <p className="muted">{t.roles.notActive}</p>}
    </div>
  );
}
