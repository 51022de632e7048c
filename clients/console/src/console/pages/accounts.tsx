import { AccessService, type ServiceAccount } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Alert, Button, Drawer, Modal, MultiSelect, Select, Switch, Textarea } from "@mantine/core";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useText } from "../../i18n";
import { useAll } from "../../shared/all";
import { ask } from "../../shared/ask";
import { useCall } from "../../shared/calls";
import { FormEnd, Refused, useFields, useSubmit } from "../../shared/form";
import { useMe } from "../../shared/me";
import { HOUR, millis } from "../../shared/time";
import { Card, CopyButton, PageHead, Shown, State, Tag, Time } from "../../shared/ui";
import { Name } from "../inputs";
import { titleOf } from "../roles/names";

interface Secret {
  readonly name: string;
  readonly key: string;
}

export function AccountsPage() {
  const t = useText();
  const [revoked, setRevoked] = useState(false);
  const [making, setMaking] = useState(false);
  const [secret, setSecret] = useState<Secret>();
  const accounts = useAll(
    AccessService.method.listServiceAccounts,
    { includeRevoked: revoked },
    (answer) => answer.serviceAccounts,
    { keep: true },
  );
  return (
    <div className="page">
      <PageHead title={t.nav.accounts} note={t.accounts.note}>
        <Switch
          size="xs"
          label={t.accounts.showRevoked}
          checked={revoked}
          onChange={(event) => setRevoked(event.currentTarget.checked)}
        />
        <Button leftSection={<IconPlus size={16} />} onClick={() => setMaking(true)}>
          {t.accounts.add}
        </Button>
      </PageHead>
      <Shown of={accounts}>
        {(all) =>
          all.length === 0 ? (
            <div className="card">
              <State icon={IconKey} title={t.accounts.none}>
                {t.accounts.noneNote}
              </State>
            </div>
          ) : (
            <div className="stack">
              {all.map((account) => (
                <Account key={account.id} account={account} onSecret={setSecret} />
              ))}
            </div>
          )
        }
      </Shown>
      <Drawer opened={making} onClose={() => setMaking(false)} title={t.accounts.add}>
        {making && (
          <NewAccount
            onClose={() => setMaking(false)}
            onMade={(made) => {
              setMaking(false);
              setSecret(made);
            }}
          />
        )}
      </Drawer>
      <Modal
        opened={secret !== undefined}
        onClose={() => undefined}
        withCloseButton={false}
        title={`${t.accounts.key}: ${secret?.name ?? ""}`}
      >
        <Alert color="yellow" mb="md">
          {t.accounts.keyNote}
        </Alert>
        <div
          className="card"
          style={{
            display: "flex",
            gap: 8,
            alignItems: "center",
            padding: "10px 12px",
            marginBottom: 16,
          }}
        >
          <code style={{ flex: 1, overflowWrap: "anywhere", fontSize: 13 }}>{secret?.key}</code>
          <CopyButton text={secret?.key ?? ""} label={t.actions.copy} />
        </div>
        <Button fullWidth onClick={() => setSecret(undefined)}>
          {t.accounts.copied}
        </Button>
      </Modal>
    </div>
  );
}

function Account({
  account,
  onSecret,
}: {
  account: ServiceAccount;
  onSecret: (secret: Secret) => void;
}) {
  const t = useText();
  const { tenant } = useMe();
  const [rotating, setRotating] = useState(false);
  const [overlap, setOverlap] = useState("24");
  const rotate = useCall(AccessService.method.rotateServiceAccountKey);
  const revoke = useCall(AccessService.method.revokeServiceAccount);
  const names = t.roleNames as Record<string, string>;
  const gone = account.revokeTime !== undefined;
  const renew = async () => {
    const hours = Number(overlap);
    const answer = await rotate.run({
      serviceAccountId: account.id,
      ...(hours > 0 && { overlap: durationFromMs(hours * HOUR) }),
    });
    if (!answer) return;
    setRotating(false);
    onSecret({ name: account.name, key: answer.key });
  };
  const keys = account.keys.filter(
    ({ expireTime }) => !expireTime || millis(expireTime) > Date.now(),
  );
  return (
    <Card
      bare
      title={
        <span style={{ display: "inline-flex", gap: 10, alignItems: "center", flexWrap: "wrap" }}>
          {account.name}
          {gone ? (
            <Tag tone="bad">{t.accounts.revoked}</Tag>
          ) : (
            <Tag tone="good">{t.accounts.inForce}</Tag>
          )}
          {account.roles.map((role) => (
            <Tag key={role} tone="plain">
              {names[role] ?? role}
            </Tag>
          ))}
        </span>
      }
      extra={
        !gone && (
          <span style={{ display: "inline-flex", gap: 8 }}>
            <Button size="compact-sm" variant="default" onClick={() => setRotating(true)}>
              {t.accounts.rotate}
            </Button>
            <Button
              size="compact-sm"
              variant="subtle"
              color="red"
              onClick={async () => {
                const answer = await ask({
                  title: t.accounts.revokeTitle(account.name),
                  body: t.accounts.revokeBody,
                  yes: t.accounts.revoke,
                  danger: true,
                });
                if (answer) await revoke.run({ serviceAccountId: account.id });
              }}
            >
              {t.accounts.revoke}
            </Button>
          </span>
        )
      }
    >
      {account.description && (
        <p style={{ margin: 0, padding: "12px 16px 0", fontSize: 13 }}>{account.description}</p>
      )}
      {keys.length > 0 && (
        <div className="scroll-x">
          <table className="table">
            <caption className="sr">{t.accounts.keys}</caption>
            <tbody>
              {keys.map((key) => (
                <tr key={key.id}>
                  <td>
                    <code>{key.prefix}…</code>
                  </td>
                  <td className="muted" style={{ whiteSpace: "nowrap" }}>
                    {t.accounts.made} <Time at={key.createTime} zone={tenant.timeZone} as="date" />
                  </td>
                  <td className="muted" style={{ whiteSpace: "nowrap" }}>
                    {t.accounts.lastUsed}:{" "}
                    {key.lastUsedTime ? (
                      <Time at={key.lastUsedTime} zone={tenant.timeZone} as="dateTime" />
                    ) : (
                      t.accounts.never
                    )}
                  </td>
                  <td className="right">
                    {key.expireTime && (
                      <Tag tone="warn">
                        {t.accounts.ends}{" "}
                        <Time at={key.expireTime} zone={tenant.timeZone} as="dateTime" />
                      </Tag>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Modal
        opened={rotating}
        onClose={() => setRotating(false)}
        title={t.accounts.rotateTitle(account.name)}
      >
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            void renew();
          }}
        >
          <p style={{ margin: 0 }}>{t.accounts.rotateBody}</p>
          <Select
            label={t.accounts.overlap}
            allowDeselect={false}
            value={overlap}
            onChange={(value) => setOverlap(value ?? "0")}
            data={[
              { value: "0", label: t.accounts.atOnce },
              ...[1, 24, 72, 168].map((n) => ({ value: String(n), label: t.accounts.hours(n) })),
            ]}
          />
          <FormEnd act={t.accounts.rotate} busy={rotate.busy} onCancel={() => setRotating(false)} />
        </form>
      </Modal>
    </Card>
  );
}

function NewAccount({ onClose, onMade }: { onClose: () => void; onMade: (made: Secret) => void }) {
  const t = useText();
  const form = useFields({ name: "", description: "" });
  const [chosen, setChosen] = useState<string[]>(["partner"]);
  const roles = useAll(AccessService.method.listRoles, {}, (answer) => answer.roles);
  const create = useCall(AccessService.method.createServiceAccount, { quiet: true });
  const { error, onSubmit } = useSubmit(async () => {
    const name = form.values.name.trim();
    const answer = await create.run({ ...form.values, name, roles: chosen });
    if (answer) onMade({ name, key: answer.key });
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      <Name {...form.text("name")} />
      <Textarea
        {...form.text("description")}
        label={t.fields.description}
        autosize
        maxLength={1000}
      />
      <MultiSelect
        label={t.fields.roles}
        required
        value={chosen}
        onChange={setChosen}
        data={roles.data?.map((role) => ({ value: role.name, label: titleOf(role, t) })) ?? []}
      />
      <Refused error={error} />
      <FormEnd
        act={t.actions.create}
        busy={create.busy}
        disabled={chosen.length === 0}
        onCancel={onClose}
      />
    </form>
  );
}
