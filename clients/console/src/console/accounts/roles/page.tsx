import {
  AccessService,
  type Member,
  MemberService,
  type Permission,
  type Role,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Box, Button, Group, Select, Stack, Table, Text, VisuallyHidden } from "@mantine/core";
import { IconCheck, IconPencil, IconPlus } from "@tabler/icons-react";
import { type ReactNode, useMemo, useState } from "react";
import { useAll } from "../../../shared/api/lists";
import { useCan } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { Card, PageHead, QueryResult, State, Tag } from "../../../shared/ui";
import { routes } from "../../routes";
import {
  CardHint,
  DialogButton,
  Dimmed,
  Facts,
  Hint,
  List,
  MemberLink,
  MemberPicker,
  Note,
  Page,
  Split,
  Tabbed,
} from "../../ui";
import { SearchInput } from "../../ui/inputs";
import { titleOf } from "../../ui/roles";
import text from "../../ui/text.module.css";
import { accountTexts } from "../texts";
import { descriptions } from "./descriptions";
import { RoleForm } from "./form";
import classes from "./matrix.module.css";
import { grouped } from "./permissions";

/** All permissions, with descriptions in the user's language. */
function usePermissions() {
  const { described } = useText(descriptions);
  return useQuery(
    AccessService.method.listPermissions,
    {},
    {
      staleTime: Number.POSITIVE_INFINITY,
      select: ({ permissions }) =>
        permissions.map((one) => ({
          ...one,
          description: described.permissions[one.name] ?? one.description,
        })),
    },
  );
}

export function RolesPage() {
  const t = useText(accountTexts);
  const can = useCan();
  const roles = useAll(AccessService.method.listRoles, {}, (answer) => answer.roles, {
    refetchInterval: 60_000,
  });
  const permissions = usePermissions();
  const of = (show: (roles: readonly Role[], permissions: readonly Permission[]) => ReactNode) => (
    <QueryResult query={roles}>
      {(all) => <QueryResult query={permissions}>{(every) => show(all, every)}</QueryResult>}
    </QueryResult>
  );
  return (
    <Page>
      <PageHead title={t.nav.roles} note={t.roles.note}>
        {can("role.write") && (
          <DialogButton width={520} label={t.roles.add} icon={IconPlus}>
            {(close) =>
              of((all, every) => <RoleForm roles={all} permissions={every} onClose={close} />)
            }
          </DialogButton>
        )}
      </PageHead>
      {of((all, every) => (
        <Tabbed
          parts={[
            ["matrix", t.roles.matrix, () => <Matrix roles={all} permissions={every} />],
            can("member.read") && ["people", t.roles.people, () => <People roles={all} />],
            can("access.check") && [
              "ask",
              t.roles.ask,
              () => <Ask permissions={every} roles={all} />,
            ],
          ]}
        />
      ))}
    </Page>
  );
}

interface RolesProps {
  permissions: readonly Permission[];
  roles: readonly Role[];
}

/** Checks whether a member has a permission, and which role gives it. */
function Ask({ permissions, roles }: RolesProps) {
  const t = useText(accountTexts);
  const [member, setMember] = useState<Member>();
  const [permission, setPermission] = useState<string | null>(null);
  const answer = useQuery(
    AccessService.method.checkAccess,
    { who: { case: "memberId", value: member?.id ?? "" }, permission: permission ?? "" },
    { enabled: Boolean(member && permission) },
  );
  const names = (list: readonly string[]) =>
    list.map((name) => titleOf(roles.find((role) => role.name === name) ?? { name }, t)).join(", ");
  return (
    <Stack gap={18} maw={620}>
      <Hint>{t.roles.askNote}</Hint>
      <Stack gap={14}>
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
      </Stack>
      {member && permission && (
        <div aria-live="polite">
          <QueryResult query={answer} rows={2}>
            {({ allowed, active, throughRoles, grantingRoles }) => (
              <Card>
                <Text mb={10} fz={18} fw={620} c={allowed ? "var(--good)" : "var(--bad)"}>
                  {allowed ? t.roles.yes(member.name) : t.roles.no(member.name)}
                </Text>
                <Facts
                  of={[
                    [t.roles.through, names(throughRoles)],
                    [t.roles.wouldGive, names(grantingRoles) || "–"],
                  ]}
                />
                {!active && <Hint>{t.roles.notActive}</Hint>}
              </Card>
            )}
          </QueryResult>
        </div>
      )}
    </Stack>
  );
}

/** Which member has which role. */
function People({ roles }: { roles: readonly Role[] }) {
  const t = useText(accountTexts);
  const [chosen, setChosen] = useState("owner");
  const members = useAll(
    MemberService.method.listMembers,
    { filter: { role: chosen } },
    (answer) => answer.members,
    { keep: true },
  );
  const { described } = useText(descriptions);
  const role = roles.find(({ name }) => name === chosen);
  return (
    <Split listed>
      <Card bare>
        <Box p={6}>
          {roles.map((one) => (
            <Button
              key={one.name}
              fullWidth
              variant={one.name === chosen ? "light" : "subtle"}
              color={one.name === chosen ? "tide" : "gray"}
              justify="space-between"
              rightSection={<span className={text.num}>{one.holders}</span>}
              aria-pressed={one.name === chosen}
              onClick={() => setChosen(one.name)}
            >
              {titleOf(one, t)}
            </Button>
          ))}
        </Box>
      </Card>
      <List
        query={members}
        title={role && titleOf(role, t)}
        extra={<Tag tone="plain">{role?.builtIn ? t.roles.builtIn : t.roles.own}</Tag>}
        linked
        empty={<State title={t.roles.noHolder} />}
        columns={[
          {
            show: ({ id, name }) => (
              <MemberLink to={routes.member.path({ id, tab: "roles" })} name={name} />
            ),
          },
          { c: "dimmed", show: ({ email }) => email },
        ]}
      >
        <CardHint pt={12} pb={4}>
          {role && ((role.builtIn && described.roles[role.name]) || role.description)}
        </CardHint>
      </List>
    </Split>
  );
}

/** Which role has which permission. */
function Matrix({ roles, permissions }: RolesProps) {
  const t = useText(accountTexts);
  const can = useCan();
  const [find, setFind] = useState("");
  const has = useMemo(
    () => new Map(roles.map((role) => [role.name, new Set(role.permissions)])),
    [roles],
  );
  return (
    <>
      <Group gap={8} mb={12}>
        <SearchInput label={t.roles.find} w={280} value={find} onChange={setFind} />
      </Group>
      <Card bare className={classes.scroll} aria-label={t.roles.matrix} tabIndex={0}>
        <Table className={classes.matrix}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t.roles.permission}</Table.Th>
              {roles.map((role) => (
                <Table.Th key={role.name} scope="col">
                  {titleOf(role, t)}
                  <Note fw={450}>{t.roles.holders(role.holders)}</Note>
                  {can("role.write") && !role.builtIn && (
                    <DialogButton
                      width={520}
                      size="compact-xs"
                      variant="subtle"
                      leftSection={<IconPencil size={12} />}
                      label={t.actions.edit}
                      title={t.roles.edit(titleOf(role, t))}
                      aria-label={t.roles.edit(titleOf(role, t))}
                    >
                      {(close) => (
                        <RoleForm
                          role={role}
                          roles={roles}
                          permissions={permissions}
                          onClose={close}
                        />
                      )}
                    </DialogButton>
                  )}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          {grouped(permissions, find).map(([group, list]) => (
            <Table.Tbody key={group}>
              <Table.Tr className={classes.group}>
                <Table.Th colSpan={roles.length + 1} scope="colgroup">
                  {t.roles.groups[group] ?? group}
                </Table.Th>
              </Table.Tr>
              {list.map(({ name, description }) => (
                <Table.Tr key={name}>
                  <Table.Th scope="row">
                    {description}
                    <Note ff="monospace">{name}</Note>
                  </Table.Th>
                  {roles.map((role) => {
                    const yes = has.get(role.name)?.has(name);
                    const say = yes ? t.roles.has : t.roles.lacks;
                    return (
                      <Table.Td key={role.name}>
                        {yes ? (
                          <IconCheck size={18} stroke={2.2} color="var(--good)" aria-hidden />
                        ) : (
                          <Dimmed aria-hidden>·</Dimmed>
                        )}
                        <VisuallyHidden>{say(titleOf(role, t), name)}</VisuallyHidden>
                      </Table.Td>
                    );
                  })}
                </Table.Tr>
              ))}
            </Table.Tbody>
          ))}
        </Table>
      </Card>
    </>
  );
}
