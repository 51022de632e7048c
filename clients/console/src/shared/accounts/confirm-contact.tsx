import { type ContactKind, MemberService } from "@berthhq/client";
import { Button, Group, TextInput } from "@mantine/core";
import { useState } from "react";
import { useCall } from "../api/calls";
import { Form, FormError, useSubmit } from "../forms/form";
import { useText } from "../i18n";
import { profileTexts } from "./texts";

/** The input for the code that was sent to the user's own email address or phone number. */
export function ConfirmContact({
  kind,
  address,
  onDone,
  onCancel,
}: {
  kind: ContactKind;
  /** Where the code was sent, if that is known. */
  address?: string;
  onDone?: () => void;
  /** Gives the contact up. */
  onCancel?: () => void;
}) {
  const t = useText(profileTexts);
  const [code, setCode] = useState("");
  const confirm = useCall(MemberService.method.confirmContact, {
    quiet: true,
    done: t.contact.done,
  });
  const resend = useCall(MemberService.method.resendContactCode, { done: t.contact.sent });
  const { error, onSubmit } = useSubmit(async () => {
    await confirm.run({ kind, code });
    setCode("");
    onDone?.();
  });
  return (
    <Form onSubmit={onSubmit}>
      <TextInput
        label={t.contact.code}
        description={address ? t.contact.waiting(address) : t.contact.needed}
        required
        value={code}
        onChange={(event) => setCode(event.currentTarget.value.replace(/\D/g, ""))}
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={6}
      />
      <FormError error={error} />
      <Group gap={8}>
        <Button type="submit" disabled={code.length !== 6} loading={confirm.busy}>
          {t.contact.confirm}
        </Button>
        <Button variant="default" loading={resend.busy} onClick={() => void resend.run({ kind })}>
          {t.contact.resend}
        </Button>
        {onCancel && (
          <Button variant="subtle" color="gray" onClick={onCancel}>
            {t.contact.cancel}
          </Button>
        )}
      </Group>
    </Form>
  );
}
