import { type Member, MemberService } from "@berthhq/client";
import {
  Alert,
  Button,
  SegmentedControl,
  Select,
  TextInput,
  useMantineColorScheme,
} from "@mantine/core";
import { IconExternalLink, IconLogout } from "@tabler/icons-react";
import { useState } from "react";
import { type Language, languages, useI18n, useText } from "../i18n";
import { useCall, useRead } from "../shared/calls";
import { useEditing } from "../shared/editing";
import { bind, Refused } from "../shared/form";
import { useAuth, useMe } from "../shared/me";
import { here } from "../shared/time";
import { Card, Time } from "../shared/ui";
import { Calendar } from "./calendar";
import { Heading } from "./heading";
import { Notices } from "./preferences";

export function MePage() {
  const t = useText();
  const { member, devices, can, tenant } = useMe();
  const auth = useAuth();
  const { language, setLanguage } = useI18n();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const forget = useCall(MemberService.method.unregisterDevice);
  return (
    <>
      <Heading tab={t.app.me}>{member.name}</Heading>
      <div style={{ display: "grid", gap: 14 }}>
        <Card title={t.app.profile}>
          <Details key={member.id} member={member} />
        </Card>
        <Card title={t.app.preferences}>
          <div className="form">
            <Select
              label={t.theme.language}
              allowDeselect={false}
              value={language}
              onChange={(next) => next && setLanguage(next as Language)}
              data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
            />
            <div>
              <div style={{ fontWeight: 540, fontSize: 13, marginBottom: 4 }}>{t.theme.title}</div>
              <SegmentedControl
                fullWidth
                aria-label={t.theme.title}
                value={colorScheme}
                onChange={(next) => setColorScheme(next as "light" | "dark" | "auto")}
                data={[
                  { value: "light", label: t.theme.light },
                  { value: "dark", label: t.theme.dark },
                  { value: "auto", label: t.theme.auto },
                ]}
              />
            </div>
          </div>
        </Card>
        <Notices />
        <Calendar />
        <Card title={t.app.devices} bare={devices.length > 0}>
          {devices.length === 0 ? (
            <p className="muted" style={{ margin: 0 }}>
              {t.app.noDevices}
            </p>
          ) : (
            <table className="table">
              <tbody>
                {devices.map((device) => (
                  <tr key={device.id}>
                    <td>{t.app.deviceKinds[device.kind]}</td>
                    <td className="muted">
                      <Time at={device.lastSeenTime} zone={tenant.timeZone} as="dateTime" />
                    </td>
                    <td className="right">
                      <Button
                        variant="subtle"
                        size="compact-sm"
                        onClick={() => void forget.run({ deviceId: device.id })}
                      >
                        {t.app.unregister}
                      </Button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Card>
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
      </div>
    </>
  );
}

interface Values {
  name: string;
  email: string;
  phone: string;
  timeZone: string;
}

const versionOf = ({ name, email, phone, timeZone, etag }: Member) => ({
  values: { name, email, phone, timeZone },
  etag,
});

function Details({ member }: { member: Member }) {
  const t = useText();
  const read = useRead();
  const [error, setError] = useState<unknown>();
  const update = useCall(MemberService.method.updateMe, { quiet: true, done: t.app.saved });
  const editing = useEditing<Values>({
    current: versionOf(member),
    failed: setError,
    reread: async () => {
      const answer = await read(MemberService.method.getMe, {});
      return versionOf(answer.member ?? member);
    },
    save: (values, changed, etag) =>
      update.run({
        member: { ...values, phone: values.phone.replace(/[\s()-]/g, ""), etag },
        updateMask: { paths: changed.map((key) => (key === "timeZone" ? "time_zone" : key)) },
      }),
  });
  const form = bind(editing.values, editing.set);
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        void editing.submit();
      }}
    >
      {editing.theirs && <Alert color="yellow">{t.conflict.title}</Alert>}
      <TextInput {...form.text("name")} label={t.fields.name} required autoComplete="name" />
      <TextInput {...form.text("email")} label={t.fields.email} type="email" autoComplete="email" />
      <TextInput
        {...form.text("phone")}
        label={t.fields.phone}
        type="tel"
        autoComplete="tel"
        description={t.members.phoneNote}
      />
      <Select
        {...form.choice("timeZone")}
        label={t.fields.timeZone}
        searchable
        clearable
        placeholder={here()}
        data={Intl.supportedValuesOf("timeZone")}
        limit={60}
      />
      <Refused error={error} />
      <Button type="submit" disabled={editing.changed.length === 0} loading={editing.saving}>
        {t.actions.save}
      </Button>
    </form>
  );
}
