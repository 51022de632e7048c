import { MemberService, MemberStatus } from "@berthhq/client";
import { Button, Group, Select, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFileImport, IconMailPlus, IconUserPlus } from "@tabler/icons-react";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { usePages } from "../../shared/api/pages";
import { useCan } from "../../shared/auth/user";
import { useFields } from "../../shared/forms/form";
import { options } from "../../shared/forms/options";
import { useText } from "../../shared/i18n";
import { PageHead, State, Tag } from "../../shared/ui";
import { routes } from "../routes";
import {
  CallForm,
  DialogButton,
  List,
  MemberLink,
  NumberSelect,
  Page,
  Tabbed,
  TenantTime,
} from "../ui";
import { useSave } from "../ui/edit-form";
import { Name, SearchInput } from "../ui/inputs";
import { InviteBox, useInvite } from "../ui/invite";
import { RoleTags } from "../ui/roles";
import { uiTexts } from "../ui/texts";
import { Invitations, Invite } from "./invitations";
import { accountTexts } from "./texts";

export function MembersPage() {
  const t = useText(accountTexts, uiTexts);
  const can = useCan();
  const [query, setQuery] = useState("");
  return (
    <Page>
      <PageHead title={t.nav.members} note={t.members.note}>
        {can("member.import") && (
          <Button
            component={Link}
            to={routes.imports.path({ what: "members" })}
            variant="default"
            leftSection={<IconFileImport size={16} />}
          >
            {t.nav.imports}
          </Button>
        )}
        {can("member.write") && (
          <>
            <DialogButton variant="default" label={t.invitations.invite} icon={IconMailPlus}>
              {(close) => <Invite onClose={close} />}
            </DialogButton>
            <DialogButton label={t.members.add} icon={IconUserPlus}>
              {(close) => <AddMember name={query} onClose={close} />}
            </DialogButton>
          </>
        )}
      </PageHead>
      <Tabbed
        parts={[
          ["members", t.nav.members, () => <MemberList query={query} onQuery={setQuery} />],
          ["invitations", t.invitations.tab, () => <Invitations />],
        ]}
      />
    </Page>
  );
}

interface MemberListProps {
  query: string;
  onQuery: (query: string) => void;
}

function MemberList({ query, onQuery }: MemberListProps) {
  const t = useText(accountTexts, uiTexts);
  const [settled] = useDebouncedValue(query.trim(), 180);
  const [role, setRole] = useState<string | null>(null);
  const [status, setStatus] = useState<number>(MemberStatus.ACTIVE);
  const members = usePages(
    MemberService.method.listMembers,
    {
      filter: { query: settled, role: role ?? "", statuses: status ? [status] : [] },
      pageSize: 60,
    },
    (page) => page.members,
    { keep: true },
  );
  return (
    <>
      <Group gap={8} mb={12}>
        <SearchInput
          label={t.members.find}
          flex="1 1 260px"
          maw={420}
          value={query}
          onChange={onQuery}
          autoFocus
        />
        <Select
          aria-label={t.fields.roles}
          placeholder={t.members.anyRole}
          clearable
          w={150}
          value={role}
          onChange={setRole}
          data={options(t.roleNames).filter(({ value }) => value !== "partner")}
        />
        <NumberSelect
          label={t.fields.status}
          names={
            {
              [MemberStatus.UNSPECIFIED]: "",
              [MemberStatus.ACTIVE]: t.members.active,
              [MemberStatus.INACTIVE]: t.members.inactive,
            } satisfies Record<MemberStatus, string>
          }
          any={t.members.anyStatus}
          value={status}
          onChange={setStatus}
        />
      </Group>
      <List
        query={members}
        skeleton={10}
        linked
        empty={<State title={t.ui.noMembers} note={t.members.noneNote} />}
        columns={[
          {
            title: t.fields.name,
            show: ({ id, name }) => <MemberLink to={routes.member.path({ id })} name={name} />,
          },
          { title: t.fields.email, c: "dimmed", show: ({ email }) => email },
          { title: t.fields.phone, c: "dimmed", show: ({ phone }) => phone },
          {
            title: t.fields.roles,
            show: ({ status, roles }) =>
              status === MemberStatus.INACTIVE ? (
                <Tag tone="bad">{t.members.inactive}</Tag>
              ) : (
                <RoleTags roles={roles} />
              ),
          },
          { title: t.fields.tier, show: ({ tier }) => tier },
          {
            title: t.members.since,
            c: "dimmed",
            show: ({ createTime }) => <TenantTime at={createTime} as="date" />,
          },
        ]}
      />
    </>
  );
}

function AddMember({ name, onClose }: { name: string; onClose: () => void }) {
  const t = useText(accountTexts);
  const go = useNavigate();
  const form = useFields({ name, email: "", phone: "", tier: "" }, t.fields);
  const create = useSave(MemberService.method.createMember, ({ member }) =>
    t.members.added(member?.name ?? ""),
  );
  const [invited, setInvited] = useState(false);
  const invite = useInvite();
  const run = async () => {
    const phone = form.values.phone.replace(/[\s()-]/g, "");
    const answer = await create({ member: { ...form.values, phone } });
    if (answer?.member && invited) await invite([answer.member]);
    if (answer?.member) void go(routes.member.path({ id: answer.member.id }));
  };
  return (
    <CallForm act={t.actions.create} run={run} onClose={onClose}>
      <Name {...form.text("name")} />
      <TextInput {...form.text("email")} type="email" maxLength={254} />
      <TextInput {...form.text("phone")} type="tel" description={t.common.phoneNote} />
      <TextInput {...form.text("tier")} maxLength={50} />
      {form.values.email.trim() !== "" && (
        <InviteBox to={form.values.email.trim()} checked={invited} onChange={setInvited} />
      )}
    </CallForm>
  );
}
