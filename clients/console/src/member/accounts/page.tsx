import { ContactKind, type Member, MemberService, NotificationService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Box, Button, Group, Select, Stack, TextInput } from "@mantine/core";
import { IconExternalLink, IconLogout } from "@tabler/icons-react";
import { useState } from "react";
import { ConfirmContact } from "../../shared/accounts/confirm-contact";
import { profileTexts } from "../../shared/accounts/texts";
import { useCall } from "../../shared/api/calls";
import { useAuth, useMe } from "../../shared/auth/user";
import { ask } from "../../shared/dialogs/question";
import { here } from "../../shared/format/time";
import { useEditing } from "../../shared/forms/editing";
import { bind, Form, FormError } from "../../shared/forms/form";
import { useText } from "../../shared/i18n";
import { Card, CopyButton, QueryResult } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { memberTexts } from "../texts";
import { Heading, Note } from "../ui";
import { accountTexts } from "./texts";

const NotificationPreferences = later(() => import("./settings"), "NotificationPreferences");
const Appearance = later(() => import("./settings"), "Appearance");
const OwnershipOffers = later(() => import("../../shared/accounts/ownership"), "OwnershipOffers", {
  fallback: null,
});
const SignIns = later(() => import("../../shared/accounts/sign-ins"), "SignIns");
const Devices = later(() => import("./settings"), "Devices");

export function AccountPage() {
  const t = useText(memberTexts);
  const { member, can } = useMe();
  const auth = useAuth();
  return (
    <>
      <Heading tab={t.app.me}>{member.name}</Heading>
      <Stack gap={14}>
        <OwnershipOffers />
        <Card title={t.app.profile}>
          <Details key={member.id} member={member} />
          <Contacts />
        </Card>
        <Card title={t.app.preferences}>
          <Appearance />
        </Card>
        <NotificationPreferences />
        <Calendar />
        <Devices />
        {auth.config.sign_in && <SignIns canEnd />}
        {can("booking.roster") && (
          <Button
            component="a"
            href="/"
            variant="default"
            leftSection={<IconExternalLink size={17} />}
          >
            {t.app.staff}
          </Button>
        )}
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconLogout size={17} />}
          onClick={() => void auth.signOut()}
        >
          {t.signIn.out}
        </Button>
      </Stack>
    </>
  );
}

/** The link to the member's calendar feed. It is a secret and shown only once. */
function Calendar() {
  const t = useText(accountTexts);
  const query = useQuery(NotificationService.method.getNotificationPreferences, {});
  const make = useCall(NotificationService.method.createCalendarFeed);
  const end = useCall(NotificationService.method.deleteCalendarFeed, {
    ask: {
      title: t.calendar.revokeTitle,
      body: t.calendar.revokeBody,
      yes: t.calendar.revoke,
      danger: true,
    },
    done: t.calendar.revoked,
  });
  const [address, setAddress] = useState("");
  const renew = async (replaces: boolean) => {
    const { renewTitle: title, renewBody: body, renew: yes } = t.calendar;
    const sure = !replaces || (await ask({ title, body, yes }));
    if (sure) setAddress((await make.run({}))?.url ?? "");
  };
  const revoke = async () => {
    if (await end.run({})) setAddress("");
  };
  return (
    <Card title={t.calendar.title}>
      <QueryResult query={query} rows={2}>
        {({ preferences }) => {
          const open = preferences?.hasCalendarFeed ?? false;
          return (
            <Stack gap={14}>
              <Note>{open && !address ? t.calendar.open : t.calendar.note}</Note>
              {address && (
                <>
                  <TextInput
                    label={t.calendar.address}
                    description={t.calendar.secret}
                    readOnly
                    value={address}
                    onFocus={(event) => event.currentTarget.select()}
                    rightSection={<CopyButton text={address} label={t.actions.copy} />}
                  />
                  <Button component="a" href={address.replace(/^https?:/, "webcal:")}>
                    {t.calendar.add}
                  </Button>
                </>
              )}
              <Group gap={8}>
                <Button variant="default" loading={make.busy} onClick={() => void renew(open)}>
                  {open ? t.calendar.renew : t.calendar.make}
                </Button>
                {open && (
                  <Button
                    variant="subtle"
                    color="red"
                    loading={end.busy}
                    onClick={() => void revoke()}
                  >
                    {t.calendar.revoke}
                  </Button>
                )}
              </Group>
            </Stack>
          );
        }}
      </QueryResult>
    </Card>
  );
}

/** The user's own contacts that wait for confirmation, or can be confirmed. */
function Contacts() {
  const t = useText(profileTexts);
  const { member, pending } = useMe();
  const cancel = useCall(MemberService.method.cancelContact);
  const ask = useCall(MemberService.method.resendContactCode, { done: t.contact.sent });
  const contacts = [
    [ContactKind.EMAIL, member.email, member.emailConfirmed],
    [ContactKind.PHONE, member.phone, member.phoneConfirmed],
  ] as const;
  const waits = (kind: ContactKind) => pending.some((one) => one.kind === kind);
  return (
    <>
      {contacts
        .filter(([kind, address, confirmed]) => address && !confirmed && !waits(kind))
        .map(([kind, address]) => (
          <Group key={kind} mt={14} gap={8} justify="space-between">
            <Note>
              {address}: {t.contact.unconfirmed}
            </Note>
            <Button
              size="compact-sm"
              variant="default"
              loading={ask.busy}
              aria-label={`${t.contact.prove}: ${address}`}
              onClick={() => void ask.run({ kind })}
            >
              {t.contact.prove}
            </Button>
          </Group>
        ))}
      {pending.map(({ kind, address }) => (
        <Box key={kind} mt={14}>
          <ConfirmContact
            kind={kind}
            address={address}
            onCancel={() => void cancel.run({ kind })}
          />
        </Box>
      ))}
    </>
  );
}

const valuesOf = ({ name, email, phone, timeZone }: Member) => ({ name, email, phone, timeZone });

/** The name and contact details, to edit. */
function Details({ member }: { member: Member }) {
  const t = useText(memberTexts);
  const update = useCall(MemberService.method.updateMe, { quiet: true, done: t.app.saved });
  const editing = useEditing({
    entity: member,
    valuesOf,
    save: (values, changed, etag) =>
      update.run({
        member: { ...values, phone: values.phone.replace(/[\s()-]/g, "") },
        updateMask: { paths: changed.map((key) => (key === "timeZone" ? "time_zone" : key)) },
        etag,
      }),
  });
  const form = bind(editing.values, editing.set, t.fields);
  return (
    <Form onSubmit={editing.onSubmit}>
      {editing.theirs && <Alert color="yellow">{t.conflict.title}</Alert>}
      <TextInput {...form.text("name")} required autoComplete="name" />
      <TextInput {...form.text("email")} type="email" autoComplete="email" />
      <TextInput
        {...form.text("phone")}
        type="tel"
        autoComplete="tel"
        description={t.common.phoneNote}
      />
      <Select
        {...form.choice("timeZone")}
        searchable
        clearable
        placeholder={here()}
        data={Intl.supportedValuesOf("timeZone")}
        limit={60}
      />
      <FormError error={editing.error} />
      <Button type="submit" disabled={editing.changed.length === 0} loading={editing.saving}>
        {t.actions.save}
      </Button>
    </Form>
  );
}
