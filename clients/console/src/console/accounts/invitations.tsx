import { type Invitation, InvitationService, InvitationState, type Member } from "@berthhq/client";
import {
  Button,
  CloseButton,
  Group,
  SegmentedControl,
  Select,
  Text,
  TextInput,
} from "@mantine/core";
import { IconMailOff } from "@tabler/icons-react";
import { useState } from "react";
import { useCall } from "../../shared/api/calls";
import { usePages } from "../../shared/api/pages";
import { useCan } from "../../shared/auth/user";
import { useFields } from "../../shared/forms/form";
import { options } from "../../shared/forms/options";
import { useText } from "../../shared/i18n";
import { State, Tag } from "../../shared/ui";
import { routes } from "../routes";
import { CallForm, List, MemberLink, MemberPicker, TenantTime } from "../ui";
import { useSave } from "../ui/edit-form";
import { Name } from "../ui/inputs";
import { useStaffRoles } from "../ui/staff-roles";
import { uiTexts } from "../ui/texts";
import { accountTexts } from "./texts";

/** The most members that are invited at a time. */
const most = 100;

const tones = {
  [InvitationState.UNSPECIFIED]: "plain",
  [InvitationState.WAITING]: "plain",
  [InvitationState.SENT]: "accent",
  [InvitationState.ACCEPTED]: "good",
  [InvitationState.REVOKED]: "plain",
  [InvitationState.EXPIRED]: "bad",
} as const satisfies Record<InvitationState, string>;

/** Who was invited, and what became of it: all, or the invitations of a member. */
export function Invitations({ memberId = "" }: { memberId?: string }) {
  const t = useText(accountTexts);
  const can = useCan();
  const all = usePages(
    InvitationService.method.listInvitations,
    { filter: { memberId }, pageSize: 60 },
    (page) => page.invitations,
    { keep: true },
  );
  const resend = useCall(InvitationService.method.resendInvitation, { done: t.invitations.resent });
  const revoke = useCall(InvitationService.method.revokeInvitation, {
    done: t.invitations.revoked,
  });
  const actions = ({ id: invitationId, state }: Invitation) => {
    const open = state === InvitationState.WAITING || state === InvitationState.SENT;
    if (!can("member.write") || !(open || state === InvitationState.EXPIRED)) return null;
    return (
      <Group gap={4} justify="flex-end" wrap="nowrap" pos="relative">
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={() => void resend.run({ invitationId })}
        >
          {t.invitations.resend}
        </Button>
        {open && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            onClick={() => void revoke.run({ invitationId })}
          >
            {t.invitations.revoke}
          </Button>
        )}
      </Group>
    );
  };
  return (
    <List
      query={all}
      skeleton={4}
      linked={!memberId}
      title={memberId && t.invitations.title}
      empty={<State icon={IconMailOff} title={t.invitations.none} note={t.invitations.noneNote} />}
      columns={[
        !memberId && {
          title: t.fields.name,
          show: ({ memberId, memberName }) => (
            <MemberLink to={routes.member.path({ id: memberId })} name={memberName} />
          ),
        },
        { title: t.fields.email, c: "dimmed", show: ({ email }) => email },
        {
          title: t.fields.status,
          show: ({ state }) => <Tag tone={tones[state]}>{t.invitations.states[state]}</Tag>,
        },
        {
          title: t.invitations.sent,
          c: "dimmed",
          visibleFrom: "sm",
          show: ({ sendTime }) => <TenantTime at={sendTime} as="dateTime" />,
        },
        {
          title: t.invitations.expires,
          c: "dimmed",
          visibleFrom: "sm",
          show: ({ expireTime, state }) =>
            state === InvitationState.SENT || state === InvitationState.WAITING ? (
              <TenantTime at={expireTime} as="dateTime" />
            ) : null,
        },
        { show: actions },
      ]}
    />
  );
}

interface InviteProps {
  onClose: () => void;
  /** The role of somebody new, at first. */
  usual?: string;
}

/** Invites somebody new, or members. */
export function Invite({ onClose, usual = "member" }: InviteProps) {
  const t = useText(accountTexts, uiTexts);
  const can = useCan();
  const [whom, setWhom] = useState("new");
  const [members, setMembers] = useState<readonly Member[]>([]);
  const form = useFields({ name: "", email: "", role: usual }, t.fields);
  const invite = useSave(InvitationService.method.batchCreateInvitations, ({ invitations }) =>
    t.invite.sent(invitations.map(({ email }) => email)),
  );
  const roles = [{ value: "member", label: t.roleNames.member }, ...useStaffRoles()];
  const run = () => {
    const { name, email, role } = form.values;
    const person = {
      name: name.trim(),
      email: email.trim(),
      roles: role === "member" ? [] : [role],
    };
    return invite({
      invitations:
        whom === "new"
          ? [{ who: { case: "person", value: person } }]
          : members.map(({ id }) => ({ who: { case: "memberId", value: id } })),
    });
  };
  return (
    <CallForm
      act={t.invitations.invite}
      run={run}
      disabled={whom === "members" && members.length === 0}
      onClose={onClose}
    >
      <SegmentedControl
        fullWidth
        aria-label={t.invitations.invite}
        value={whom}
        onChange={setWhom}
        data={options({ new: t.invitations.newPerson, members: t.nav.members })}
      />
      {whom === "new" ? (
        <>
          <Name {...form.text("name")} />
          <TextInput {...form.text("email")} type="email" required maxLength={254} />
          {can("role.assign") && (
            <Select
              {...form.choice("role")}
              label={t.invitations.role}
              allowDeselect={false}
              data={roles}
            />
          )}
        </>
      ) : (
        <>
          {members.length < most && (
            <MemberPicker
              key={members.length}
              optional
              label={t.ui.member}
              value={undefined}
              onChange={(one) => {
                if (one && !members.some(({ id }) => id === one.id)) setMembers([...members, one]);
              }}
            />
          )}
          {members.map(({ id, name, email }) => (
            <Group key={id} gap={8} justify="space-between" wrap="nowrap">
              <Text inherit>
                {name}
                {email === "" && ` (${t.invitations.noAddress})`}
              </Text>
              <CloseButton
                aria-label={`${t.actions.remove}: ${name}`}
                onClick={() => setMembers(members.filter((one) => one.id !== id))}
              />
            </Group>
          ))}
        </>
      )}
      <Text inherit c="dimmed" fz="sm">
        {t.invite.note}
      </Text>
    </CallForm>
  );
}
