import {
  type NotificationSenders,
  type NotificationSendersInputSchema,
  NotificationService,
} from "@berthhq/client";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { NumberInput, PasswordInput, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { useFields } from "../../shared/forms/form";
import { useText } from "../../shared/i18n";
import { CallForm } from "../ui";
import { useSave } from "../ui/edit-form";
import { messageTexts } from "./texts";

/** The field of a sender in the contract. */
export type Kind = "twilio" | "fcm" | "smtp" | "domain";

interface SenderFormProps {
  kind: Kind;
  senders: NotificationSenders;
  onClose: () => void;
}

/** Secrets are write-only: an empty field keeps the stored secret. */
export function SenderForm({ kind, senders, onClose }: SenderFormProps) {
  const t = useText(messageTexts);
  const [etag] = useState(senders.etag);
  const { values, ...form } = useFields(() => ({
    account: senders.twilio?.accountSid ?? "",
    from: senders.twilio?.sender ?? "",
    project: senders.fcm?.projectId ?? "",
    host: senders.smtp?.host ?? "",
    port: senders.smtp?.port ?? 587,
    user: senders.smtp?.username ?? "",
    address: senders[kind === "domain" ? kind : "smtp"]?.fromAddress ?? "",
    secret: "",
  }));
  const kept = senders[kind] !== undefined;
  const update = useSave(NotificationService.method.updateNotificationSenders);
  const text = (key: Exclude<keyof typeof values, "port">, label: string) => ({
    ...form.text(key),
    label,
    autoComplete: "off",
  });
  const secret = (label: string) => ({
    ...text("secret", label),
    autoComplete: "new-password",
    description: t.messages.senders.secretNote,
    ...(kept && { placeholder: t.messages.senders.secretKept }),
  });
  const { account, from, project, host, port, user: username, address, secret: key } = values;
  const own: MessageInitShape<typeof NotificationSendersInputSchema> = {
    twilio: { accountSid: account.trim(), authToken: key, sender: from.replace(/[\s()-]/g, "") },
    fcm: { projectId: project.trim(), serviceAccountJson: new TextEncoder().encode(key) },
    smtp: { host: host.trim(), port, username, password: key, fromAddress: address.trim() },
    domain: { fromAddress: address.trim() },
  };
  return (
    <CallForm
      act={t.actions.save}
      run={() => update({ senders: { [kind]: own[kind] }, updateMask: { paths: [kind] }, etag })}
      onClose={onClose}
    >
      {kind === "twilio" && (
        <>
          <TextInput {...text("account", t.messages.senders.account)} required data-autofocus />
          <PasswordInput {...secret(t.messages.senders.token)} required={!kept} />
          <TextInput
            {...text("from", t.messages.senders.from)}
            required
            placeholder="+4915123456789"
          />
        </>
      )}
      {kind === "fcm" && (
        <>
          <TextInput {...text("project", t.messages.senders.project)} required data-autofocus />
          <Textarea
            {...secret(t.messages.senders.key)}
            required={!kept}
            autosize
            minRows={4}
            maxRows={12}
          />
        </>
      )}
      {kind === "smtp" && (
        <>
          <TextInput
            {...text("host", t.messages.senders.host)}
            required
            placeholder="smtp.example.com"
            data-autofocus
          />
          <NumberInput
            {...form.count("port")}
            label={t.messages.senders.port}
            description={t.messages.senders.portNote}
            required
            min={1}
            max={65535}
          />
          <TextInput {...text("user", t.messages.senders.user)} />
          <PasswordInput {...secret(t.messages.senders.password)} />
          <TextInput {...text("address", t.messages.senders.address)} type="email" required />
        </>
      )}
      {kind === "domain" && (
        <TextInput
          {...text("address", t.messages.senders.address)}
          description={t.messages.domain.addressNote}
          type="email"
          required
          data-autofocus
        />
      )}
    </CallForm>
  );
}
