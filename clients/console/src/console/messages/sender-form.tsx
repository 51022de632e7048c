import { NotificationService, type Senders } from "@berthhq/client";
import { NumberInput, PasswordInput, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { useNoticeTexts } from "../../i18n/notices";
import { useFields } from "../../shared/forms/form";
import { CallForm } from "../ui";
import { useSave } from "../ui/edit-form";

/** The field of a sender in the contract. */
export type Kind = "twilio" | "fcm" | "smtp" | "domain";

interface SenderFormProps {
  kind: Kind;
  senders: Senders;
  onClose: () => void;
}

/** Secrets are write-only: an empty field keeps the stored secret. */
export function SenderForm({ kind, senders, onClose }: SenderFormProps) {
  const { t, n } = useNoticeTexts();
  const [etag] = useState(senders.etag);
  const { values, ...form } = useFields(() => ({
    account: senders.twilio?.accountSid ?? "",
    from: senders.twilio?.from ?? "",
    project: senders.fcm?.projectId ?? "",
    host: senders.smtp?.host ?? "",
    port: senders.smtp?.port ?? 587,
    user: senders.smtp?.username ?? "",
    address: senders[kind === "domain" ? kind : "smtp"]?.fromAddress ?? "",
    secret: "",
  }));
  const kept = senders[kind] !== undefined;
  const update = useSave(NotificationService.method.updateSenders);
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
  const { account, from, project, host, port, user: username, address, secret: key } = values;
  const own = {
    twilio: { accountSid: account.trim(), authToken: key, from: from.replace(/[\s()-]/g, "") },
    fcm: { projectId: project.trim(), serviceAccountJson: new TextEncoder().encode(key) },
    smtp: { host: host.trim(), port, username, password: key, fromAddress: address.trim() },
    domain: { fromAddress: address.trim() },
  };
  return (
    <CallForm
      act={t.actions.save}
      run={() => update({ senders: { etag, [kind]: own[kind] }, updateMask: { paths: [kind] } })}
      onClose={onClose}
    >
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
            {...form.count("port")}
            label={n.senders.port}
            description={n.senders.portNote}
            required
            min={1}
            max={65535}
          />
          <TextInput {...text("user", n.senders.user)} />
          <PasswordInput {...secret(n.senders.password)} />
          <TextInput {...text("address", n.senders.address)} type="email" required />
        </>
      )}
      {kind === "domain" && (
        <TextInput
          {...text("address", n.senders.address)}
          description={n.domain.addressNote}
          type="email"
          required
          data-autofocus
        />
      )}
    </CallForm>
  );
}
