import "@mantine/notifications/styles.layer.css";
import { Box, Button, Group, Modal, Text, Textarea } from "@mantine/core";
import { useInputState } from "@mantine/hooks";
import { Notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { CodeForm } from "../auth/code-form";
import { useAuth } from "../auth/user";
import { useText } from "../i18n";
import { useStore } from "../state/store";
import { useLast } from "../state/use-last";
import { openQuestion } from "./question";

/** What opens over any page. */
export function Dialogs({ expired }: { expired: boolean }) {
  return (
    <>
      <Notifications position="bottom-right" autoClose={5000} />
      <AskDialog />
      <SignInAgain open={expired} />
    </>
  );
}

/** Shows confirmation dialogs. */
function AskDialog() {
  const t = useText();
  const open = useStore(openQuestion);
  const [reason, setReason] = useInputState("");
  const [question] = useLast(open);
  const cancel = () => {
    open?.answer(undefined);
    setReason("");
  };
  return (
    <Modal
      opened={open !== undefined}
      // Above the dialog or drawer that opened it.
      zIndex={300}
      onClose={cancel}
      title={question?.title ?? ""}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          open?.answer({ reason });
          setReason("");
        }}
      >
        {question?.body && (
          <Box c="var(--ink-2)" mb={14}>
            {question.body}
          </Box>
        )}
        {question?.reason && (
          <Textarea
            label={question.reason}
            value={reason}
            onChange={setReason}
            autosize
            minRows={2}
            maxLength={1000}
            mb="md"
            data-autofocus
          />
        )}
        <Group justify="flex-end" gap={8} wrap="nowrap">
          <Button variant="default" onClick={cancel}>
            {t.actions.back}
          </Button>
          <Button
            type="submit"
            color={question?.danger ? "red.8" : "tide"}
            data-autofocus={!question?.reason}
          >
            {question?.yes}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}

/** Opens over the page, so that what was typed stays. */
function SignInAgain({ open }: { open: boolean }) {
  const auth = useAuth();
  const state = useStore(auth);
  const [stepUp] = useLast(state.kind === "expired" ? Boolean(state.stepUp) : undefined);
  const t = useText();
  const signIn = useMutation({
    mutationFn: () =>
      auth.config.development && !auth.config.issuer ? auth.resume() : auth.signIn(),
  });
  return (
    <Modal
      opened={open}
      onClose={() => undefined}
      withCloseButton={false}
      title={stepUp ? t.signIn.stepUp : t.signIn.expired}
      zIndex={500}
    >
      <Text inherit mb="1em">
        {stepUp ? t.signIn.stepUpNote : t.signIn.expiredNote}
      </Text>
      {auth.own && <CodeForm />}
      <Group justify="flex-end" gap={8} mt={auth.own ? 20 : 0}>
        <Button
          variant="subtle"
          color="gray"
          onClick={() => (stepUp ? auth.keep() : void auth.signOut())}
        >
          {stepUp ? t.actions.back : t.signIn.other}
        </Button>
        {!auth.own && (
          <Button loading={signIn.isPending} onClick={() => signIn.mutate()} data-autofocus>
            {t.signIn.again}
          </Button>
        )}
      </Group>
    </Modal>
  );
}
