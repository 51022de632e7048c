import { useLast } from "../../shared/last";
import "../layers/layers.css";
import { type Senders as Carriers, NotificationService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import {
  Button,
  Drawer,
  NumberInput,
  PasswordInput,
  Select,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import { useText } from "../../i18n";
import { useNotices } from "../../i18n/notices";
import { ask } from "../../shared/ask";
import { useCall } from "../../shared/calls";
import { FormEnd, Refused, useFields, useSubmit } from "../../shared/form";
import { useCan } from "../../shared/me";
import { Card, CopyButton, Shown, Tag } from "../../shared/ui";
import { offered, useLanguageNames } from "../languages";
import { toneOf } from "./data";
import { choices } from "./filters";

/** The field of each channel's sender in the contract. */
const kinds = ["", "twilio", "fcm", "smtp"] as const;
type Kind = "twilio" | "fcm" | "smtp";

export function Senders() {
  const n = useNotices();
  const can = useCan();
  const senders = useQuery(NotificationService.method.getSenders, {});
  return (
    <div className="stack" style={{ maxWidth: 820 }}>
      <p className="muted" style={{ margin: 0, maxWidth: "74ch" }}>
        {n.senders.note}
      </p>
      <Shown of={senders}>{(answer) => answer.senders && <List senders={answer.senders} />}</Shown>
      {can("notification.test") && <Test />}
    </div>
  );
}

function List({ senders }: { senders: Carriers }) {
  const t = useText();
  const n = useNotices();
  const can = useCan();
  const [edited, setEdited] = useState<Kind>();
  const [last, turn] = useLast(edited);
  const update = useCall(NotificationService.method.updateSenders, { done: t.done.saved });
  const remove = async (kind: Kind, name: string) => {
    const sure = await ask({
      title: n.senders.removeTitle(name),
      body: n.senders.removeBody,
      yes: n.senders.remove,
      danger: true,
    });
    if (!sure) return;
    await update.run({ senders: { etag: senders.etag }, updateMask: { paths: [kind] } });
  };
  const about: Record<Kind, string | undefined> = {
    twilio: senders.twilio?.from,
    fcm: senders.fcm?.projectId,
    smtp: senders.smtp?.fromAddress,
  };
  return (
    <section className="card">
      {senders.inUse.map(({ channel, provider, own }) => {
        const kind = kinds[channel] || "smtp";
        const name = n.channels[channel] ?? "";
        return (
          <div key={channel} className="policy-row">
            <strong style={{ fontWeight: 560 }}>{name}</strong>
            <div style={{ minWidth: 0, overflowWrap: "anywhere" }}>
              {provider === "local" ? n.senders.local : provider}{" "}
              {provider !== "local" && (
                <Tag tone={own ? "accent" : "plain"}>
                  {own ? n.senders.own : n.senders.platform}
                </Tag>
              )}
              {about[kind] && <div className="muted">{about[kind]}</div>}
            </div>
            {can("notification.senders") && (
              <div className="policy-from">
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`${own ? t.actions.edit : n.senders.setUp}: ${name}`}
                  onClick={() => setEdited(kind)}
                >
                  {own ? t.actions.edit : n.senders.setUp}
                </Button>
                {own && (
                  <Button
                    size="compact-sm"
                    variant="subtle"
                    color="gray"
                    aria-label={`${n.senders.remove}: ${name}`}
                    onClick={() => void remove(kind, name)}
                  >
                    {t.actions.remove}
                  </Button>
                )}
              </div>
            )}
          </div>
        );
      })}
      {senders.twilioInboundUrl && (
        <div className="policy-row">
          <strong style={{ fontWeight: 560 }}>{n.senders.replies}</strong>
          <code style={{ fontSize: 12, overflowWrap: "anywhere" }}>{senders.twilioInboundUrl}</code>
          <div className="policy-from">
            <CopyButton text={senders.twilioInboundUrl} label={n.senders.copy} />
          </div>
        </div>
      )}
      <Drawer
        opened={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={last && n.senders.edit(n.channels[kinds.indexOf(last)] ?? "")}
      >
        {last && (
          <Form key={turn} kind={last} senders={senders} onClose={() => setEdited(undefined)} />
        )}
      </Drawer>
    </section>
  );
}

/** Secrets are write-only: an empty field keeps the stored secret. */
function Form({ kind, senders, onClose }: { kind: Kind; senders: Carriers; onClose: () => void }) {
  const t = useText();
  const n = useNotices();
  const [etag] = useState(senders.etag);
  const { values, set, ...form } = useFields(() => ({
    account: senders.twilio?.accountSid ?? "",
    from: senders.twilio?.from ?? "",
    project: senders.fcm?.projectId ?? "",
    host: senders.smtp?.host ?? "",
    port: senders.smtp?.port ?? 587,
    user: senders.smtp?.username ?? "",
    address: senders.smtp?.fromAddress ?? "",
    secret: "",
  }));
  const kept = senders[kind] !== undefined;
  const update = useCall(NotificationService.method.updateSenders, {
    quiet: true,
    done: t.done.saved,
  });
  const text = (key: Exclude<keyof typeof values, "port">, label: string) => ({
    ...form.text(key),
    label,
    autoComplete: "off",
  });
  const secret = (label: string) => ({
    ...text("secret", label),
    autoComplete: "new-password",
    description: n.senders.secretNote,
    ...(kept && { placeholder: n.senders.secretKept }),
  });
  const own = {
    twilio: () => ({
      twilio: {
        accountSid: values.account.trim(),
        authToken: values.secret,
        from: values.from.replace(/[\s()-]/g, ""),
      },
    }),
    fcm: () => ({
      fcm: {
        projectId: values.project.trim(),
        serviceAccountJson: new TextEncoder().encode(values.secret),
      },
    }),
    smtp: () => ({
      smtp: {
        host: values.host.trim(),
        port: values.port,
        username: values.user,
        password: values.secret,
        fromAddress: values.address.trim(),
      },
    }),
  };
  const { error, onSubmit } = useSubmit(async () => {
    await update.run({ senders: { etag, ...own[kind]() }, updateMask: { paths: [kind] } });
    onClose();
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      {kind === "twilio" && (
        <>
          <TextInput {...text("account", n.senders.account)} required data-autofocus />
          <PasswordInput {...secret(n.senders.token)} required={!kept} />
          <TextInput {...text("from", n.senders.from)} required placeholder="+4915123456789" />
        </>
      )}
      {kind === "fcm" && (
        <>
          <TextInput {...text("project", n.senders.project)} required data-autofocus />
          <Textarea {...secret(n.senders.key)} required={!kept} autosize minRows={4} maxRows={12} />
        </>
      )}
      {kind === "smtp" && (
        <>
          <TextInput
            {...text("host", n.senders.host)}
            required
            placeholder="smtp.example.com"
            data-autofocus
          />
          <NumberInput
            label={n.senders.port}
            description={n.senders.portNote}
            required
            min={1}
            max={65535}
            value={values.port}
            onChange={(port) => set({ port: Number(port) || 0 })}
          />
          <TextInput {...text("user", n.senders.user)} />
          <PasswordInput {...secret(n.senders.password)} />
          <TextInput {...text("address", n.senders.address)} type="email" required />
        </>
      )}
      <Refused error={error} />
      <FormEnd act={t.actions.save} busy={update.busy} onCancel={onClose} />
    </form>
  );
}

/** Sends a test message to the user and shows what happened to it. */
function Test() {
  const n = useNotices();
  const [topic, setTopic] = useState("1");
  const [channel, setChannel] = useState("3");
  const [language, setLanguage] = useState<string | null>(null);
  const [lines, setLines] = useState<readonly string[]>([]);
  const [tone, setTone] = useState<ReturnType<typeof toneOf>>("");
  const send = useCall(NotificationService.method.sendTest);
  const run = async () => {
    setLines([]);
    const answer = await send.run({
      topic: Number(topic),
      channel: Number(channel),
      locale: language ?? "",
    });
    if (!answer) return;
    setTone(toneOf(answer.deliveries[0]?.status ?? 0));
    setLines(
      answer.deliveries.map(({ status, reason, address, errorMessage }) =>
        [n.statuses[status], n.reasons[reason], address, errorMessage].filter(Boolean).join(" · "),
      ),
    );
  };
  return (
    <Card title={n.senders.test}>
      <div className="form">
        <p className="muted" style={{ margin: 0 }}>
          {n.senders.testNote}
        </p>
        <div className="filters" style={{ margin: 0 }}>
          <Select
            aria-label={n.topic}
            w={200}
            allowDeselect={false}
            value={topic}
            onChange={(value) => setTopic(value ?? "1")}
            data={choices(n.topics)}
          />
          <Select
            aria-label={n.channel}
            w={150}
            allowDeselect={false}
            value={channel}
            onChange={(value) => setChannel(value ?? "3")}
            data={choices(n.channels)}
          />
          <Select
            aria-label={n.templates.language}
            placeholder={n.senders.mine}
            w={190}
            clearable
            value={language}
            onChange={setLanguage}
            data={useLanguageNames(offered)}
          />
          <Button loading={send.busy} onClick={() => void run()}>
            {n.senders.send}
          </Button>
        </div>
        <div role="status">
          {lines.map((line) => (
            <Tag key={line} tone={tone}>
              {line}
            </Tag>
          ))}
        </div>
      </div>
    </Card>
  );
}
