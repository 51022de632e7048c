import { type Member, MemberService, MemberStatus } from "@berthhq/client";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Button, Drawer, Select, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFileImport, IconSearch, IconUserPlus } from "@tabler/icons-react";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { useText } from "../../i18n";
import { useCall } from "../../shared/calls";
import { FormEnd, Refused, useFields, useSubmit } from "../../shared/form";
import { useCan, useMe } from "../../shared/me";
import { Face, More, PageHead, paged, Shown, State, Tag, Time } from "../../shared/ui";
import { Name } from "../inputs";

export function MembersPage() {
  const t = useText();
  const can = useCan();
  const [query, setQuery] = useState("");
  const [settled] = useDebouncedValue(query.trim(), 180);
  const [role, setRole] = useState<string | null>(null);
  const [status, setStatus] = useState<string>(String(MemberStatus.ACTIVE));
  const [adding, setAdding] = useState(false);
  const members = useInfiniteQuery(
    MemberService.method.listMembers,
    { query: settled, role: role ?? "", status: Number(status), pageSize: 60, pageToken: "" },
    {
      ...paged,
      placeholderData: (before) => before,
    },
  );
  return (
    <div className="page">
      <PageHead title={t.nav.members} note={t.members.note}>
        {can("member.import") && (
          <Button
            component={Link}
            to="/imports?what=members"
            variant="default"
            leftSection={<IconFileImport size={16} />}
          >
            {t.nav.imports}
          </Button>
        )}
        {can("member.write") && (
          <Button leftSection={<IconUserPlus size={16} />} onClick={() => setAdding(true)}>
            {t.members.add}
          </Button>
        )}
      </PageHead>
      <div className="filters">
        <TextInput
          type="search"
          style={{ flex: "1 1 260px", maxWidth: 420 }}
          leftSection={<IconSearch size={16} aria-hidden />}
          placeholder={t.members.find}
          aria-label={t.members.find}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
          autoFocus
        />
        <Select
          aria-label={t.fields.roles}
          placeholder={t.members.anyRole}
          clearable
          w={150}
          value={role}
          onChange={setRole}
          data={Object.entries(t.roleNames)
            .filter(([name]) => name !== "partner")
            .map(([value, label]) => ({ value, label }))}
        />
        <Select
          aria-label={t.fields.status}
          allowDeselect={false}
          w={150}
          value={status}
          onChange={(value) => setStatus(value ?? "0")}
          data={[
            { value: "0", label: t.members.anyStatus },
            { value: "1", label: t.members.active },
            { value: "2", label: t.members.inactive },
          ]}
        />
      </div>
      <div className="card">
        <Shown of={members} rows={10}>
          {({ pages }) => <List members={pages.flatMap((page) => page.members)} />}
        </Shown>
      </div>
      <More of={members} />
      <Drawer opened={adding} onClose={() => setAdding(false)} title={t.members.add}>
        {adding && <AddMember name={query} onClose={() => setAdding(false)} />}
      </Drawer>
    </div>
  );
}

export function RoleTags({ roles }: { roles: readonly string[] }) {
  const t = useText();
  const names = t.roleNames as Record<string, string>;
  return (
    <span style={{ display: "inline-flex", gap: 4, flexWrap: "wrap" }}>
      {roles.map((role) => (
        <Tag key={role} tone={role === "member" ? "plain" : "accent"}>
          {names[role] ?? role}
        </Tag>
      ))}
    </span>
  );
}

function List({ members }: { members: readonly Member[] }) {
  const t = useText();
  const { tenant } = useMe();
  if (members.length === 0) return <State title={t.members.none}>{t.members.noneNote}</State>;
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t.fields.name}</th>
            <th scope="col">{t.fields.email}</th>
            <th scope="col">{t.fields.phone}</th>
            <th scope="col">{t.fields.roles}</th>
            <th scope="col">{t.fields.tier}</th>
            <th scope="col">{t.members.since}</th>
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <tr key={member.id} className="link">
              <td>
                <span className="person">
                  <Face name={member.name} />
                  <Link className="cover" to={`/members/${member.id}`}>
                    {member.name}
                  </Link>
                </span>
              </td>
              <td className="muted">{member.email}</td>
              <td className="muted num">{member.phone}</td>
              <td>
                {member.status === MemberStatus.INACTIVE ? (
                  <Tag tone="bad">{t.members.inactive}</Tag>
                ) : (
                  <RoleTags roles={member.roles} />
                )}
              </td>
              <td>{member.tier}</td>
              <td className="muted">
                <Time at={member.createTime} zone={tenant.timeZone} as="date" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AddMember({ name, onClose }: { name: string; onClose: () => void }) {
  const t = useText();
  const go = useNavigate();
  const form = useFields({ name, email: "", phone: "", tier: "" });
  const create = useCall(MemberService.method.createMember, {
    quiet: true,
    done: ({ member }) => t.members.added(member?.name ?? ""),
  });
  const { error, onSubmit } = useSubmit(async () => {
    const phone = form.values.phone.replace(/[\s()-]/g, "");
    const answer = await create.run({ member: { ...form.values, phone } });
    if (answer?.member) void go(`/members/${answer.member.id}`);
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      <Name {...form.text("name")} />
      <TextInput {...form.text("email")} label={t.fields.email} type="email" maxLength={254} />
      <TextInput
        {...form.text("phone")}
        label={t.fields.phone}
        type="tel"
        description={t.members.phoneNote}
      />
      <TextInput {...form.text("tier")} label={t.fields.tier} maxLength={50} />
      <Refused error={error} />
      <FormEnd act={t.actions.create} busy={create.busy} onCancel={onClose} />
    </form>
  );
}
