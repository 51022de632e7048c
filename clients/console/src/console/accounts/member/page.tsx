import {
  type AddressChange,
  ContactKind,
  type Device,
  type Member,
  MemberService,
  MemberStatus,
  type PendingContact,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Group, Stack, Text } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { profileTexts } from "../../../shared/accounts/texts";
import { useCall } from "../../../shared/api/calls";
import { useAuth, useMe } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { Avatar, Card, PageHead, QueryResult, Tag } from "../../../shared/ui";
import { later } from "../../../shared/ui/lazy";
import { useTitle } from "../../../shared/ui/title";
import { routes } from "../../routes";
import {
  ActionsMenu,
  Back,
  DialogButton,
  Dimmed,
  Facts,
  Page,
  type Part,
  Split,
  Tabbed,
  TenantTime,
  useLanguageName,
} from "../../ui";
import { useInvite } from "../../ui/invite";
import { RoleTags } from "../../ui/roles";
import text from "../../ui/text.module.css";
import { uiTexts } from "../../ui/texts";
import { useManages } from "../roles/permissions";
import { accountTexts } from "../texts";
import { ConfirmByHand } from "./confirm-by-hand";
import { memberPageTexts } from "./texts";

const Attendance = later(() => import("./attendance"), "Attendance");
const Bookings = later(() => import("./bookings"), "Bookings");
const MessageChannels = later(() => import("./channels"), "MessageChannels");
const Credits = later(() => import("./credits"), "Credits");
const EditMember = later(() => import("./edit"), "EditMember");
const SignIns = later(() => import("../../../shared/accounts/sign-ins"), "SignIns");
const Invitations = later(() => import("../invitations"), "Invitations");
const LedSessions = later(() => import("./led-sessions"), "LedSessions");
const Roles = later(() => import("./roles"), "Roles");

export function MemberPage() {
  const t = useText();
  const { id } = routes.member.useParams();
  const member = useQuery(MemberService.method.getMember, { memberId: id });
  useTitle(member.data?.member?.name ?? t.nav.members);
  return (
    <Page>
      <QueryResult query={member}>
        {(answer) =>
          answer.member && (
            <Profile
              member={answer.member}
              devices={answer.devices}
              pending={answer.pendingContacts}
              change={answer.addressChange}
            />
          )
        }
      </QueryResult>
    </Page>
  );
}

/** Whether the roles of a member let them lead sessions. */
const leads = ({ roles }: Member) =>
  roles.some((role) => role === "coach" || role === "admin" || role === "owner");

interface ProfileProps {
  member: Member;
  devices: readonly Device[];
  pending: readonly PendingContact[];
  /** The change of their email that waits for the old one. */
  change: AddressChange | undefined;
}

function Profile({ member, devices, pending, change }: ProfileProps) {
  const t = useText(accountTexts, memberPageTexts, profileTexts, uiTexts);
  const { member: me, tenant, can } = useMe();
  const auth = useAuth();
  const own = member.id === me.id;
  const manages = useManages();
  const languageName = useLanguageName();
  const active = member.status === MemberStatus.ACTIVE;
  const question = {
    title: t.members.deactivateTitle(member.name),
    body: t.members.deactivateBody,
    yes: t.members.deactivate,
    danger: true,
  };
  const deactivate = useCall(MemberService.method.deactivateMember, {
    ask: question,
    done: t.done.saved,
  });
  const reactivate = useCall(MemberService.method.reactivateMember, { done: t.done.saved });
  const invite = useInvite();
  const { id: memberId } = member;
  const mayConfirm = can("member.confirm") && manages(member) && member.id !== me.id;
  const contact = (kind: ContactKind, scheme: string, address: string, confirmed: boolean) => {
    const waiting = pending.find((contact) => contact.kind === kind)?.address;
    const unconfirmed = waiting ?? (confirmed ? undefined : address);
    return (
      <Stack gap={6}>
        {address ? (
          <Group gap={6}>
            <a href={scheme + address}>{address}</a>
            <Tag tone={confirmed ? "good" : "plain"}>
              {confirmed ? t.contact.confirmed : t.contact.unconfirmed}
            </Tag>
          </Group>
        ) : (
          !waiting && "–"
        )}
        {waiting && <Dimmed>{t.member.entered(waiting)}</Dimmed>}
        {change && kind === ContactKind.EMAIL && (
          <Dimmed>
            {t.member.addressWaits(change.oldEmail)} <TenantTime at={change.allowTime} />
          </Dimmed>
        )}
        {mayConfirm && unconfirmed && (
          <ConfirmByHand member={member} kind={kind} address={unconfirmed} />
        )}
      </Stack>
    );
  };
  const tabs: (Part | false)[] = [
    can("booking.read") && ["bookings", t.member.bookings, () => <Bookings member={member} />],
    can("credit.read") && ["credits", t.members.credits, () => <Credits member={member} />],
    can("attendance.read") && [
      "attendance",
      t.members.bookings,
      () => <Attendance member={member} />,
    ],
    can("session.update") &&
      active &&
      leads(member) && ["led", t.led.tab, () => <LedSessions member={member} />],
    ["messages", t.member.messages, () => <MessageChannels member={member} devices={devices} />],
    auth.config.sign_in === true &&
      (own || can("member.read")) && [
        "sign-ins",
        t.signIns.tab,
        () => (
          <>
            <SignIns
              memberId={member.id}
              canEnd={own || (can("member.write") && manages(member))}
            />
            {!own && <Invitations memberId={member.id} />}
          </>
        ),
      ],
    can("role.read") && [
      "roles",
      t.members.access,
      () => (
        <>
          <Roles member={member} />
          {can("session.update") && active && !leads(member) && (
            <LedSessions member={member} left />
          )}
        </>
      ),
    ],
  ];
  return (
    <>
      <Back to={routes.members.path()} label={t.nav.members} />
      <PageHead
        mark={<Avatar name={member.name} size={44} />}
        title={member.name}
        tags={
          active ? <RoleTags roles={member.roles} /> : <Tag tone="bad">{t.members.inactive}</Tag>
        }
      >
        {can("member.write") && manages(member) && (
          <>
            <DialogButton
              variant="default"
              label={t.actions.edit}
              title={member.name}
              icon={IconPencil}
            >
              {(close) => <EditMember member={member} onClose={close} />}
            </DialogButton>
            <ActionsMenu
              outlined
              label={t.actions.actions}
              actions={[
                [active && member.email !== "", t.invite.send, () => invite([member])],
                [active, t.members.deactivate, () => deactivate.run({ memberId }), "danger"],
                [!active, t.members.reactivate, () => reactivate.run({ memberId })],
              ]}
            />
          </>
        )}
      </PageHead>
      <Split>
        <Stack gap={18}>
          {can("session.update") && !active && <LedSessions member={member} left />}
          <Tabbed parts={tabs} />
        </Stack>
        <Card title={t.members.profile}>
          <Facts
            of={[
              [
                t.fields.email,
                contact(ContactKind.EMAIL, "mailto:", member.email, member.emailConfirmed),
              ],
              [
                t.fields.phone,
                contact(ContactKind.PHONE, "tel:", member.phone, member.phoneConfirmed),
              ],
              [t.fields.tier, member.tier || "–"],
              member.tags.length > 0 && [
                t.fields.tags,
                <Group key="tags" gap={4}>
                  {member.tags.map((tag) => (
                    <Tag key={tag} tone="plain">
                      {tag}
                    </Tag>
                  ))}
                </Group>,
              ],
              [t.fields.locale, languageName(member.locale || tenant.locale)],
              [t.fields.timeZone, (member.timeZone || tenant.timeZone).replaceAll("_", " ")],
              [t.members.since, <TenantTime key="since" at={member.createTime} as="date" />],
            ]}
          />
          {member.notes && (
            <Text mt={14} mb={0} fz="sm" className={text.preWrap}>
              <strong>{t.fields.notes}</strong>
              <br />
              {member.notes}
            </Text>
          )}
        </Card>
      </Split>
    </>
  );
}
