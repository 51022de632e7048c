import {
  AccessService,
  CheckInService,
  CreditService,
  type Member,
  MemberService,
  MemberStatus,
  PlanKind,
  type Subscription,
  SubscriptionStatus,
} from "@berthhq/client";
import {
  callUnaryMethod,
  useInfiniteQuery,
  useQuery,
  useTransport,
} from "@connectrpc/connect-query";
import {
  ActionIcon,
  Alert,
  Button,
  Drawer,
  Menu,
  Modal,
  NumberInput,
  Select,
  Switch,
  Tabs,
  TagsInput,
  Textarea,
  TextInput,
} from "@mantine/core";
import { IconArrowLeft, IconDots, IconPencil, IconPlus, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { Link, useParams, useSearchParams } from "react-router";
import { useSpeech, useText } from "../../i18n";
import { useAll } from "../../shared/all";
import { ask } from "../../shared/ask";
import { useDo } from "../../shared/calls";
import { useEditing } from "../../shared/editing";
import { explain } from "../../shared/errors";
import { useCan, useMe } from "../../shared/root";
import { here } from "../../shared/time";
import { Card, Face, PageHead, Shown, State, Tag, Time, type Tone } from "../../shared/ui";
import { Conflict } from "../conflict";
import { RoleTags } from "./members";
import { BookingTag } from "./session";

export function MemberPage() {
  const { id = "" } = useParams();
  const member = useQuery(MemberService.method.getMember, { memberId: id });
  return (
    <div className="page">
      <Shown of={member}>{(answer) => answer.member && <Profile member={answer.member} />}</Shown>
    </div>
  );
}

function Profile({ member }: { member: Member }) {
  const t = useText();
  const can = useCan();
  const { tenant } = useMe();
  const [editing, setEditing] = useState(false);
  const [params, setParams] = useSearchParams();
  const update = useDo(MemberService.method.updateMember, { done: t.done.saved });
  const active = member.status === MemberStatus.ACTIVE;
  const tabs = [
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
    can("role.read") && { key: "roles", label: t.members.access, shown: <Roles member={member} /> },
  ].filter((tab) => tab !== false);
  const tab = params.get("tab") ?? tabs[0]?.key ?? "";
  return (
    <>
      <Link
        to="/members"
        className="muted"
        style={{
          display: "inline-flex",
          gap: 5,
          alignItems: "center",
          fontSize: 13,
          textDecoration: "none",
          marginBottom: 10,
        }}
      >
        <IconArrowLeft size={15} aria-hidden /> {t.nav.members}
      </Link>
      <PageHead
        title={
          <span style={{ display: "inline-flex", gap: 14, alignItems: "center", flexWrap: "wrap" }}>
            <Face name={member.name} size={44} />
            {member.name}
            {active ? (
              <RoleTags roles={member.roles} />
            ) : (
              <Tag tone="bad">{t.members.inactive}</Tag>
            )}
          </span>
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
            <Menu>
              <Menu.Target>
                <ActionIcon variant="default" size={36} aria-label={t.actions.actions}>
                  <IconDots size={18} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item
                  {...(active && { c: "var(--bad)" })}
                  onClick={async () => {
                    const answer =
                      !active ||
                      (await ask({
                        title: t.members.deactivateTitle(member.name),
                        body: t.members.deactivateBody,
                        yes: t.members.deactivate,
                        danger: true,
                      }));
                    if (!answer) return;
                    await update.run({
                      member: {
                        id: member.id,
                        status: active ? MemberStatus.INACTIVE : MemberStatus.ACTIVE,
                        etag: member.etag,
                      },
                      updateMask: { paths: ["status"] },
                    });
                  }}
                >
                  {active ? t.members.deactivate : t.members.reactivate}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </>
        )}
      </PageHead>
      <div className="split">
        <div className="stack">
          {tabs.length > 0 && (
            <Tabs
              value={tab}
              onChange={(value) => setParams({ tab: value ?? "" }, { replace: true })}
              keepMounted={false}
            >
              <Tabs.List mb="md">
                {tabs.map(({ key, label }) => (
                  <Tabs.Tab key={key} value={key}>
                    {label}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              {tabs.map(({ key, shown }) => (
                <Tabs.Panel key={key} value={key}>
                  {shown}
                </Tabs.Panel>
              ))}
            </Tabs>
          )}
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
            <dd>{member.locale || tenant.locale}</dd>
            <dt>{t.fields.timeZone}</dt>
            <dd>{member.timeZone || tenant.timeZone}</dd>
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

interface Values {
  name: string;
  email: string;
  phone: string;
  tier: string;
  tags: readonly string[];
  locale: string;
  timeZone: string;
  notes: string;
}

function versionOf(member: Member) {
  const { name, email, phone, tier, tags, locale, timeZone, notes } = member;
  return { values: { name, email, phone, tier, tags, locale, timeZone, notes }, etag: member.etag };
}

const zones = () => Intl.supportedValuesOf("timeZone");

function EditMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const t = useText();
  const { locale } = useSpeech();
  const transport = useTransport();
  const [error, setError] = useState<unknown>();
  const update = useDo(MemberService.method.updateMember, { quiet: true, done: t.done.saved });
  const editing = useEditing<Values>({
    current: versionOf(member),
    failed: setError,
    reread: async () => {
      const answer = await callUnaryMethod(transport, MemberService.method.getMember, {
        memberId: member.id,
      });
      return versionOf(answer.member ?? member);
    },
    save: (values, changed, etag) =>
      update.run({
        member: {
          ...values,
          phone: values.phone.replace(/[\s()-]/g, ""),
          tags: [...values.tags],
          id: member.id,
          etag,
        },
        updateMask: { paths: changed.map((key) => (key === "timeZone" ? "time_zone" : key)) },
      }),
  });
  const { values, set } = editing;
  const text = (key: Exclude<keyof Values, "tags">) => ({
    label: t.fields[key],
    value: values[key],
    onChange: (event: { currentTarget: { value: string } }) =>
      set({ [key]: event.currentTarget.value }),
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
      <Conflict theirs={editing.theirs} names={t.fields} onTake={editing.takeTheirs} />
      <TextInput {...text("name")} required maxLength={200} data-autofocus />
      <TextInput {...text("email")} type="email" maxLength={254} />
      <TextInput {...text("phone")} type="tel" description={t.members.phoneNote} />
      <div className="two">
        <TextInput {...text("tier")} maxLength={50} />
        <TextInput {...text("locale")} maxLength={35} placeholder="pt-PT" />
      </div>
      <TagsInput
        label={t.fields.tags}
        value={[...values.tags]}
        onChange={(tags) => set({ tags })}
        maxTags={50}
      />
      <Select
        label={t.fields.timeZone}
        searchable
        clearable
        value={values.timeZone || null}
        onChange={(zone) => set({ timeZone: zone ?? "" })}
        data={zones()}
        limit={60}
      />
      <Textarea
        {...text("notes")}
        description={t.members.notesNote}
        autosize
        minRows={3}
        maxLength={4000}
      />
      {error !== undefined && <Alert color="red">{explain(error, t, locale, here())}</Alert>}
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={editing.saving} disabled={editing.changed.length === 0}>
          {t.actions.save}
        </Button>
      </div>
    </form>
  );
}

const subscriptionTones: Record<number, Tone> = { 1: "good", 2: "warn", 3: "bad" };

function Credits({ member }: { member: Member }) {
  const t = useText();
  const can = useCan();
  const [ended, setEnded] = useState(false);
  const [starting, setStarting] = useState(false);
  const balance = useQuery(CreditService.method.getBalance, {
    memberId: member.id,
    includeEnded: ended,
  });
  return (
    <div className="stack">
      <div style={{ display: "flex", gap: 12, alignItems: "center" }}>
        {balance.data && (
          <span style={{ fontSize: 20, fontWeight: 620 }} className="num">
            {balance.data.unlimited
              ? t.members.unlimited
              : t.plans.creditCount(balance.data.balance)}
          </span>
        )}
        <Switch
          ml="auto"
          size="xs"
          label={t.members.ended}
          checked={ended}
          onChange={(event) => setEnded(event.currentTarget.checked)}
        />
        {can("subscription.manage") && (
          <Button
            size="sm"
            variant="default"
            leftSection={<IconPlus size={15} />}
            onClick={() => setStarting(true)}
          >
            {t.members.subscribe}
          </Button>
        )}
      </div>
      <Shown of={balance} rows={4}>
        {({ subscriptions }) =>
          subscriptions.length === 0 ? (
            <div className="card">
              <State title={t.members.noPlan}>{t.members.noPlanNote}</State>
            </div>
          ) : (
            subscriptions.map((one) => <SubscriptionCard key={one.id} subscription={one} />)
          )
        }
      </Shown>
      <Modal opened={starting} onClose={() => setStarting(false)} title={t.members.subscribe}>
        {starting && <StartPlan member={member} onClose={() => setStarting(false)} />}
      </Modal>
    </div>
  );
}

function SubscriptionCard({ subscription }: { subscription: Subscription }) {
  const t = useText();
  const can = useCan();
  const { tenant } = useMe();
  const [granting, setGranting] = useState(false);
  const pause = useDo(CreditService.method.pauseSubscription);
  const resume = useDo(CreditService.method.resumeSubscription);
  const debt = useDo(CreditService.method.markDebt);
  const end = useDo(CreditService.method.cancelSubscription);
  const { id: subscriptionId, status, planName } = subscription;
  const running = status <= SubscriptionStatus.DEBT;
  const counted = subscription.planKind === PlanKind.CREDITS;
  return (
    <Card
      bare
      title={
        <span style={{ display: "inline-flex", gap: 10, alignItems: "center" }}>
          {planName}{" "}
          <Tag tone={subscriptionTones[status] ?? ""}>{t.subscriptionStatus[status]}</Tag>
        </span>
      }
      extra={
        <span style={{ display: "inline-flex", gap: 10, alignItems: "center" }}>
          {counted && <strong className="num">{t.plans.creditCount(subscription.balance)}</strong>}
          {can("subscription.manage") && running && (
            <Menu>
              <Menu.Target>
                <ActionIcon aria-label={`${t.actions.actions}: ${planName}`}>
                  <IconDots size={17} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                {counted && can("credit.grant") && (
                  <Menu.Item onClick={() => setGranting(true)}>{t.members.grant}</Menu.Item>
                )}
                {status === SubscriptionStatus.ACTIVE ? (
                  <>
                    <Menu.Item onClick={() => void pause.run({ subscriptionId })}>
                      {t.members.pause}
                    </Menu.Item>
                    <Menu.Item onClick={() => void debt.run({ subscriptionId })}>
                      {t.members.debt}
                    </Menu.Item>
                  </>
                ) : (
                  <Menu.Item onClick={() => void resume.run({ subscriptionId })}>
                    {t.members.resume}
                  </Menu.Item>
                )}
                <Menu.Item
                  c="var(--bad)"
                  onClick={async () => {
                    const answer = await ask({
                      title: t.members.endTitle(planName),
                      body: t.members.endBody,
                      yes: t.members.end,
                      reason: t.fields.reason,
                      danger: true,
                    });
                    if (answer) await end.run({ subscriptionId, reason: answer.reason });
                  }}
                >
                  {t.members.end}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )}
        </span>
      }
    >
      <p className="muted" style={{ margin: 0, padding: "10px 16px", fontSize: 13 }}>
        <Time at={subscription.startTime} zone={tenant.timeZone} as="date" />
        {subscription.periodEndTime && (
          <>
            {" · "}
            {t.members.renews}{" "}
            <Time at={subscription.periodEndTime} zone={tenant.timeZone} as="date" />
          </>
        )}
        {subscription.endTime && (
          <>
            {" · "}
            {t.members.ends} <Time at={subscription.endTime} zone={tenant.timeZone} as="date" />
          </>
        )}
      </p>
      {counted && <Ledger subscriptionId={subscriptionId} />}
      <Modal opened={granting} onClose={() => setGranting(false)} title={t.members.grant}>
        {granting && <Grant subscription={subscription} onClose={() => setGranting(false)} />}
      </Modal>
    </Card>
  );
}

function Ledger({ subscriptionId }: { subscriptionId: string }) {
  const t = useText();
  const { tenant } = useMe();
  const ledger = useInfiniteQuery(
    CreditService.method.listLedger,
    { subscriptionId, pageSize: 12, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    },
  );
  return (
    <Shown of={ledger} rows={3}>
      {({ pages }) => {
        const entries = pages.flatMap((page) => page.entries);
        if (entries.length === 0) {
          return (
            <p className="muted" style={{ margin: 0, padding: "0 16px 14px", fontSize: 13 }}>
              {t.members.noLedger}
            </p>
          );
        }
        return (
          <>
            <table className="table" style={{ borderTop: "1px solid var(--line)" }}>
              <caption className="sr">{t.members.ledger}</caption>
              <tbody>
                {entries.map((entry) => (
                  <tr key={entry.id}>
                    <td className="muted" style={{ width: 150, whiteSpace: "nowrap" }}>
                      <Time at={entry.createTime} zone={tenant.timeZone} as="dateTime" />
                    </td>
                    <td>
                      {t.creditKind[entry.kind]}
                      {entry.reason && <span className="muted"> · {entry.reason}</span>}
                    </td>
                    <td
                      className="right num"
                      style={{ color: entry.amount > 0 ? "var(--good)" : undefined }}
                    >
                      {entry.amount > 0 ? `+${entry.amount}` : `−${-entry.amount}`}
                    </td>
                    <td className="right num muted" style={{ width: 60 }}>
                      {entry.balance}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {ledger.hasNextPage && (
              <Button
                variant="subtle"
                size="compact-sm"
                m="xs"
                onClick={() => void ledger.fetchNextPage()}
              >
                {t.actions.more}
              </Button>
            )}
          </>
        );
      }}
    </Shown>
  );
}

function Grant({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const t = useText();
  const { locale } = useSpeech();
  const [amount, setAmount] = useState<number | "">(1);
  const [reason, setReason] = useState("");
  const [error, setError] = useState<unknown>();
  const grant = useDo(CreditService.method.grantCredits, {
    quiet: true,
    done: ({ entry }) => t.members.granted(entry?.balance ?? 0),
  });
  return (
    <form
      className="form"
      onSubmit={async (event) => {
        event.preventDefault();
        try {
          await grant.run({ subscriptionId: subscription.id, amount: Number(amount), reason });
          onClose();
        } catch (thrown) {
          setError(thrown);
        }
      }}
    >
      <NumberInput
        label={t.members.amount}
        description={t.members.amountNote}
        value={amount}
        min={-10_000}
        max={10_000}
        onChange={(value) => setAmount(typeof value === "number" ? value : "")}
        data-autofocus
      />
      <Textarea
        label={t.fields.reason}
        value={reason}
        maxLength={1000}
        autosize
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      {error !== undefined && <Alert color="red">{explain(error, t, locale, here())}</Alert>}
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={grant.busy} disabled={!amount}>
          {t.actions.save}
        </Button>
      </div>
    </form>
  );
}

function StartPlan({ member, onClose }: { member: Member; onClose: () => void }) {
  const t = useText();
  const { locale } = useSpeech();
  const plans = useAll(CreditService.method.listPlans, {}, (answer) => answer.plans);
  const [plan, setPlan] = useState<string | null>(null);
  const [error, setError] = useState<unknown>();
  const start = useDo(CreditService.method.subscribe, { quiet: true, done: t.members.subscribed });
  return (
    <form
      className="form"
      onSubmit={async (event) => {
        event.preventDefault();
        try {
          await start.run({ memberId: member.id, planId: plan ?? "" });
          onClose();
        } catch (thrown) {
          setError(thrown);
        }
      }}
    >
      <Select
        label={t.nav.plans}
        required
        data-autofocus
        value={plan}
        onChange={setPlan}
        data={
          plans.data?.map(({ id, plan: input }) => ({ value: id, label: input?.name ?? id })) ?? []
        }
      />
      {error !== undefined && <Alert color="red">{explain(error, t, locale, here())}</Alert>}
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={start.busy} disabled={!plan}>
          {t.members.subscribe}
        </Button>
      </div>
    </form>
  );
}

function Attendance({ member }: { member: Member }) {
  const t = useText();
  const attendance = useInfiniteQuery(
    CheckInService.method.listAttendance,
    { memberId: member.id, pageSize: 30, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    },
  );
  return (
    <Shown of={attendance}>
      {({ pages }) => {
        const [first] = pages;
        const bookings = pages.flatMap((page) => page.bookings);
        return (
          <>
            <dl className="stats">
              {(
                [
                  [first?.attended, t.members.came],
                  [first?.noShows, t.members.noShows],
                  [first?.lateCancelled, t.members.late],
                ] as const
              ).map(([count, label]) => (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd>{count ?? 0}</dd>
                </div>
              ))}
            </dl>
            <div className="card">
              {bookings.length === 0 ? (
                <State title={t.members.noAttendance} />
              ) : (
                <table className="table">
                  <tbody>
                    {bookings.map((booking) => (
                      <tr key={booking.id} className="link">
                        <td className="muted" style={{ width: 170, whiteSpace: "nowrap" }}>
                          <Time at={booking.sessionStartTime} zone={booking.timeZone} />
                        </td>
                        <td>
                          <Link className="cover" to={`/sessions/${booking.sessionId}`}>
                            {booking.sessionTitle}
                          </Link>
                        </td>
                        <td className="right">
                          {booking.lateCancelled && <Tag tone="warn">{t.session.late}</Tag>}{" "}
                          <BookingTag booking={booking} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              )}
            </div>
            {attendance.hasNextPage && (
              <Button mt="sm" variant="default" onClick={() => void attendance.fetchNextPage()}>
                {t.actions.more}
              </Button>
            )}
          </>
        );
      }}
    </Shown>
  );
}

function Roles({ member }: { member: Member }) {
  const t = useText();
  const can = useCan();
  const names = t.roleNames as Record<string, string>;
  const roles = useAll(AccessService.method.listRoles, {}, (answer) => answer.roles);
  const title = (name: string) =>
    names[name] ?? roles.data?.find((role) => role.name === name)?.title ?? name;
  const give = useDo(AccessService.method.assignRole);
  const take = useDo(AccessService.method.revokeRole);
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Card title={t.fields.roles}>
      <div style={{ display: "grid", gap: 8 }}>
        {member.roles.map((role) => (
          <div key={role} style={{ display: "flex", alignItems: "center", gap: 10 }}>
            <span style={{ flex: 1 }}>
              <strong style={{ fontWeight: 560 }}>{title(role)}</strong>
              <div className="muted" style={{ fontSize: 12 }}>
                {roles.data?.find(({ name }) => name === role)?.description}
              </div>
            </span>
            {can("role.assign") && (
              <ActionIcon
                aria-label={t.members.takeRole(title(role))}
                loading={take.busy}
                onClick={() => void take.run({ memberId: member.id, role })}
              >
                <IconX size={16} />
              </ActionIcon>
            )}
          </div>
        ))}
        {can("role.assign") && (
          <div style={{ display: "flex", gap: 8, marginTop: 6 }}>
            <Select
              aria-label={t.members.giveRole}
              placeholder={t.members.giveRole}
              style={{ flex: 1 }}
              value={chosen}
              onChange={setChosen}
              data={(roles.data ?? [])
                .filter(({ name }) => !member.roles.includes(name) && name !== "partner")
                .map(({ name }) => ({ value: name, label: title(name) }))}
            />
            <Button
              disabled={!chosen}
              loading={give.busy}
              onClick={async () => {
                if (chosen && (await give.run({ memberId: member.id, role: chosen })))
                  setChosen(null);
              }}
            >
              {t.members.giveRole}
            </Button>
          </div>
        )}
      </div>
    </Card>
  );
}
