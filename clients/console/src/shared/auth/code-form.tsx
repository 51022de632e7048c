import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useInterval } from "@mantine/hooks";
import { IconFingerprint } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { useText } from "../i18n";
import type { CodeFailure } from "./auth";
import { passkeysWork } from "./passkeys";
import { useAuth } from "./user";

/** How long to wait for a mail before one asks for another, in seconds. */
const patience = 30;

/** Signs in with the server itself: by a code that a mail brings, or by a passkey. */
export function CodeForm() {
  const auth = useAuth();
  const t = useText();
  const [address, setAddress] = useState("");
  const [request, setRequest] = useState("");
  const [code, setCode] = useState("");
  const [failure, setFailure] = useState<CodeFailure>();
  const [busy, setBusy] = useState(false);
  const [wait, setWait] = useState(0);
  useInterval(() => setWait((left) => Math.max(0, left - 1)), 1000, { autoInvoke: true });

  const doing = async (what: () => Promise<CodeFailure | undefined>) => {
    setBusy(true);
    setFailure(await what());
    setBusy(false);
  };
  const send = () =>
    doing(async () => {
      const answer = await auth.sendCode(address.trim());
      if ("failure" in answer) return answer.failure;
      setRequest(answer.request);
      setCode("");
      setWait(patience);
      return undefined;
    });
  const signIn = () => doing(() => auth.signInByCode(request, code));
  const on = (act: () => Promise<void>) => (event: FormEvent) => {
    event.preventDefault();
    void act();
  };
  const failed = failure && (
    <Alert color="red" role="alert">
      {t.signIn.codeFailures[failure]}
    </Alert>
  );

  if (request === "") {
    return (
      <form onSubmit={on(send)}>
        <Stack gap={14}>
          <TextInput
            label={t.signIn.address}
            description={t.signIn.addressNote}
            type="email"
            name="email"
            autoComplete="username"
            required
            withAsterisk={false}
            maxLength={254}
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value)}
          />
          {failed}
          <Button type="submit" loading={busy}>
            {t.signIn.sendCode}
          </Button>
          {passkeysWork() && (
            <Button
              variant="default"
              leftSection={<IconFingerprint size={18} aria-hidden />}
              disabled={busy}
              onClick={() => void doing(() => auth.signInByPasskey())}
            >
              {t.signIn.byPasskey}
            </Button>
          )}
        </Stack>
      </form>
    );
  }
  return (
    <form onSubmit={on(signIn)}>
      <Stack gap={14}>
        <Text inherit role="status">
          {t.signIn.codeSent(address.trim())}
        </Text>
        <TextInput
          label={t.signIn.code}
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          withAsterisk={false}
          maxLength={20}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value.replace(/\D/g, ""))}
          data-autofocus
          autoFocus
        />
        {failed}
        <Button type="submit" loading={busy} disabled={code.length < 6}>
          {t.signIn.action}
        </Button>
        <Group gap={8}>
          <Button variant="default" disabled={wait > 0 || busy} onClick={() => void send()}>
            {wait > 0 ? t.signIn.resendIn(wait) : t.signIn.resend}
          </Button>
          <Button
            variant="subtle"
            color="gray"
            onClick={() => {
              setRequest("");
              setFailure(undefined);
            }}
          >
            {t.signIn.otherAddress}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
