import {
  AccessService,
  type ServiceAccount,
  ServiceAccountStatus as Status,
} from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  Alert,
  Box,
  Button,
  Group,
  Modal,
  MultiSelect,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useCall } from "../../shared/api/calls";
import { useAll } from "../../shared/api/lists";
import { HOUR, millis } from "../../shared/format/time";
import { useFields } from "../../shared/forms/form";
import { useText } from "../../shared/i18n";
import { Card, CopyButton, PageHead, QueryResult, State, Tag } from "../../shared/ui";
import { CallButton } from "../../shared/ui/call-button";
import { CallForm, DataTable, DialogButton, Inline, Page, quiet, TenantTime } from "../ui";
import { Name } from "../ui/inputs";
import { titleOf, useGives } from "../ui/roles";
import text from "../ui/text.module.css";
import { accountTexts } from "./texts";

interface Secret {
  readonly name: string;
  readonly key: string;
}

export function AccountsPage() {
  const t = useText(accountTexts);
  const [revoked, { toggle }] = useDisclosure();
  const [secret, setSecret] = useState<Secret>();
  const accounts = useAll(
    AccessService.method.listServiceAccounts,
    { filter: { statuses: revoked ? [Status.ACTIVE, Status.REVOKED] : [Status.ACTIVE] } },
    (answer) => answer.serviceAccounts,
    { keep: true },
  );
  return (
    <Page>
      <PageHead title={t.nav.accounts} note={t.accounts.note}>
        <Switch size="xs" label={t.accounts.showRevoked} checked={revoked} onChange={toggle} />
        <DialogButton label={t.accounts.add} icon={IconPlus}>
          {(close) => <NewAccount onClose={close} onMade={setSecret} />}
        </DialogButton>
      </PageHead>
      <QueryResult query={accounts}>
        {(all) =>
          all.length === 0 ? (
            <Card bare>
              <State icon={IconKey} title={t.accounts.none} note={t.accounts.noneNote} />
            </Card>
          ) : (
            <Stack gap={18}>
              {all.map((account) => (
                <Account key={account.id} account={account} onSecret={setSecret} />
              ))}
            </Stack>
          )
        }
      </QueryResult>
      <Modal
        opened={secret !== undefined}
        onClose={() => undefined}
        withCloseButton={false}
        title={`${t.accounts.key}: ${secret?.name ?? ""}`}
      >
        <Alert color="yellow" mb="md">
          {t.accounts.keyNote}
        </Alert>
        <Card bare>
          <Group gap={8} wrap="nowrap" py={10} px={12}>
            <Box component="code" flex={1} fz="sm" className={text.anywhere}>
              {secret?.key}
            </Box>
            <CopyButton text={secret?.key ?? ""} label={t.actions.copy} />
          </Group>
        </Card>
        <Button fullWidth mt={16} onClick={() => setSecret(undefined)}>
          {t.accounts.copied}
        </Button>
      </Modal>
    </Page>
  );
}

interface AccountProps {
  account: ServiceAccount;
  onSecret: (secret: Secret) => void;
}

function Account({ account, onSecret }: AccountProps) {
  const t = useText(accountTexts);
  const [hours, setHours] = useState(24);
  const rotate = useCall(AccessService.method.rotateServiceAccountKey);
  const gone = account.revokeTime !== undefined;
  const manages = account.roles.every(useGives());
  const renew = async () => {
    const answer = await rotate.run({
      serviceAccountId: account.id,
      ...(hours > 0 && { overlap: durationFromMs(hours * HOUR) }),
    });
    if (answer) onSecret({ name: account.name, key: answer.key });
    return answer !== undefined;
  };
  const keys = account.keys.filter(
    ({ expireTime }) => !expireTime || millis(expireTime) > Date.now(),
  );
  return (
    <Card
      bare
      title={
        <Inline>
          {account.name}
          <Tag tone={gone ? "bad" : "good"}>{gone ? t.accounts.revoked : t.accounts.inForce}</Tag>
          {account.roles.map((name) => (
            <Tag key={name} tone="plain">
              {titleOf({ name }, t)}
            </Tag>
          ))}
        </Inline>
      }
      extra={
        !gone &&
        manages && (
          <Inline gap={8} align="stretch" wrap="nowrap">
            <DialogButton
              modal
              size="compact-sm"
              variant="default"
              label={t.accounts.rotate}
              title={t.accounts.rotateTitle(account.name)}
            >
              {(close) => (
                <CallForm act={t.accounts.rotate} run={renew} onClose={close}>
                  <Text inherit>{t.accounts.rotateBody}</Text>
                  <Select
                    label={t.accounts.overlap}
                    allowDeselect={false}
                    value={hours}
                    onChange={(value) => setHours(value ?? 0)}
                    data={[
                      { value: 0, label: t.accounts.atOnce },
                      ...[1, 24, 72, 168].map((value) => ({
                        value,
                        label: t.accounts.hours(value),
                      })),
                    ]}
                  />
                </CallForm>
              )}
            </DialogButton>
            <CallButton
              size="compact-sm"
              variant="subtle"
              color="red"
              method={AccessService.method.revokeServiceAccount}
              input={{ serviceAccountId: account.id }}
              ask={{
                title: t.accounts.revokeTitle(account.name),
                body: t.accounts.revokeBody,
                yes: t.accounts.revoke,
                danger: true,
              }}
            >
              {t.accounts.revoke}
            </CallButton>
          </Inline>
        )
      }
    >
      {account.description && (
        <Text pt={12} pb={0} px={16} fz="sm">
          {account.description}
        </Text>
      )}
      {keys.length > 0 && (
        <DataTable
          rows={keys}
          caption={t.accounts.keys}
          columns={[
            { show: ({ prefix }) => <code>{prefix}…</code> },
            {
              ...quiet,
              show: ({ createTime }) => (
                <>
                  {t.accounts.made} <TenantTime at={createTime} as="date" />
                </>
              ),
            },
            {
              ...quiet,
              show: ({ lastUsedTime }) => (
                <>
                  {t.accounts.lastUsed}:{" "}
                  {lastUsedTime ? <TenantTime at={lastUsedTime} as="dateTime" /> : t.accounts.never}
                </>
              ),
            },
            {
              ta: "right",
              show: ({ expireTime }) =>
                expireTime && (
                  <Tag tone="warn">
                    {t.accounts.ends} <TenantTime at={expireTime} as="dateTime" />
                  </Tag>
                ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function NewAccount({ onClose, onMade }: { onClose: () => void; onMade: (made: Secret) => void }) {
  const t = useText();
  const form = useFields({ name: "", description: "" }, t.fields);
  const [chosen, setChosen] = useState<string[]>(["partner"]);
  const roles = useAll(AccessService.method.listRoles, {}, (answer) => answer.roles);
  const gives = useGives();
  const offered = (roles.data ?? []).filter(({ name }) => name !== "owner" && gives(name));
  const create = useCall(AccessService.method.createServiceAccount, { quiet: true });
  const run = async () => {
    const name = form.values.name.trim();
    const answer = await create.run({ serviceAccount: { ...form.values, name, roles: chosen } });
    if (answer) onMade({ name, key: answer.key });
  };
  return (
    <CallForm act={t.actions.create} run={run} disabled={chosen.length === 0} onClose={onClose}>
      <Name {...form.text("name")} />
      <Textarea {...form.text("description")} autosize maxLength={1000} />
      <MultiSelect
        label={t.fields.roles}
        required
        value={chosen}
        onChange={setChosen}
        data={offered.map((role) => ({ value: role.name, label: titleOf(role, t) }))}
      />
    </CallForm>
  );
}
