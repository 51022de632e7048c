import { type Device, type Member, MemberService, MemberStatus } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button, Drawer } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useState } from "react";
import { useParams } from "react-router";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { ask } from "../../shared/ask";
import { useCall } from "../../shared/calls";
import { useCan, useMe } from "../../shared/me";
import { useTitle } from "../../shared/title";
import { Card, Face, PageHead, Shown, Tag, Time } from "../../shared/ui";
import { ActionsMenu } from "../actions-menu";
import { Back } from "../back";
import { useLanguageName } from "../languages";
import { RoleTags } from "../pages/members";
import { Tabbed } from "../tabbed";
import { Attendance } from "./attendance";
import { Bookings } from "./bookings";
import { MessageChannels } from "./channels";
import { Credits } from "./credits";
import { EditMember } from "./edit";
import { Roles } from "./roles";

export function MemberPage() {
  const t = useText();
  const { id = "" } = useParams();
  const member = useQuery(MemberService.method.getMember, { memberId: id });
  useTitle(member.data?.member?.name ?? t.nav.members);
  return (
    <div className="page">
      <Shown of={member}>
        {(answer) => answer.member && <Profile member={answer.member} devices={answer.devices} />}
      </Shown>
    </div>
  );
}

function Profile({ member, devices }: { member: Member; devices: readonly Device[] }) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const { tenant } = useMe();
  const languageName = useLanguageName();
  const [editing, setEditing] = useState(false);
  const update = useCall(MemberService.method.updateMember, { done: t.done.saved });
  const active = member.status === MemberStatus.ACTIVE;
  const become = (status: MemberStatus) =>
    update.run({
      member: { id: member.id, status, etag: member.etag },
      updateMask: { paths: ["status"] },
    });
  const deactivate = async () => {
    const sure = await ask({
      title: t.members.deactivateTitle(member.name),
      body: t.members.deactivateBody,
      yes: t.members.deactivate,
      danger: true,
    });
    if (sure) await become(MemberStatus.INACTIVE);
  };
  const tabs = [
    can("booking.read") && {
      key: "bookings",
      label: d.member.bookings,
      shown: <Bookings member={member} />,
    },
    can("credit.read") && {
      key: "credits",
      label: t.members.credits,
      shown: <Credits member={member} />,
    },
    can("attendance.read") && {
      key: "attendance",
      label: t.members.bookings,
      shown: <Attendance member={member} />,
    },
    {
      key: "messages",
      label: d.member.messages,
      shown: <MessageChannels member={member} devices={devices} />,
    },
    can("role.read") && { key: "roles", label: t.members.access, shown: <Roles member={member} /> },
  ].filter((tab) => tab !== false);
  return (
    <>
      <Back to="/members" label={t.nav.members} />
      <PageHead
        mark={<Face name={member.name} size={44} />}
        title={member.name}
        tags={
          active ? <RoleTags roles={member.roles} /> : <Tag tone="bad">{t.members.inactive}</Tag>
        }
      >
        {can("member.write") && (
          <>
            <Button
              variant="default"
              leftSection={<IconPencil size={16} />}
              onClick={() => setEditing(true)}
            >
              {t.actions.edit}
            </Button>
            <ActionsMenu
              outlined
              label={t.actions.actions}
              actions={[
                active
                  ? { label: t.members.deactivate, run: deactivate, danger: true }
                  : { label: t.members.reactivate, run: () => become(MemberStatus.ACTIVE) },
              ]}
            />
          </>
        )}
      </PageHead>
      <div className="split">
        <div className="stack">
          <Tabbed parts={tabs} />
        </div>
        <Card title={t.members.profile}>
          <dl className="facts">
            <dt>{t.fields.email}</dt>
            <dd>{member.email ? <a href={`mailto:${member.email}`}>{member.email}</a> : "–"}</dd>
            <dt>{t.fields.phone}</dt>
            <dd className="num">
              {member.phone ? <a href={`tel:${member.phone}`}>{member.phone}</a> : "–"}
            </dd>
            <dt>{t.fields.tier}</dt>
            <dd>{member.tier || "–"}</dd>
            {member.tags.length > 0 && (
              <>
                <dt>{t.fields.tags}</dt>
                <dd style={{ display: "flex", gap: 4, flexWrap: "wrap" }}>
                  {member.tags.map((tag) => (
                    <Tag key={tag} tone="plain">
                      {tag}
                    </Tag>
                  ))}
                </dd>
              </>
            )}
            <dt>{t.fields.locale}</dt>
            <dd>{languageName(member.locale || tenant.locale)}</dd>
            <dt>{t.fields.timeZone}</dt>
            <dd>{(member.timeZone || tenant.timeZone).replaceAll("_", " ")}</dd>
            <dt>{t.members.since}</dt>
            <dd>
              <Time at={member.createTime} zone={tenant.timeZone} as="date" />
            </dd>
          </dl>
          {member.notes && (
            <p style={{ margin: "14px 0 0", fontSize: 13, whiteSpace: "pre-wrap" }}>
              <strong>{t.fields.notes}</strong>
              <br />
              {member.notes}
            </p>
          )}
        </Card>
      </div>
      <Drawer opened={editing} onClose={() => setEditing(false)} title={member.name}>
        {editing && <EditMember member={member} onClose={() => setEditing(false)} />}
      </Drawer>
    </>
  );
}
