import { type BenefitProvider, CatalogService } from "@berthhq/client";
import { Button, Checkbox, Divider, Group, Stack, Textarea, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useCall } from "../../shared/api/calls";
import { usePages } from "../../shared/api/pages";
import { useCan, useMe } from "../../shared/auth/user";
import { FormError } from "../../shared/forms/form";
import { useText } from "../../shared/i18n";
import { More, QueryResult, Tag, Time } from "../../shared/ui";
import { CallButton } from "../../shared/ui/call-button";
import { CardHint, DataTable, Dimmed } from "../ui";
import { uiTexts } from "../ui/texts";
import { catalogTexts } from "./texts";

/** How many numbers a request may have. */
const most = 5_000;

/** A provider's list of membership numbers, and the members who use its numbers. */
export function BenefitNumbers({ provider }: { provider: BenefitProvider }) {
  const t = useText(catalogTexts);
  const can = useCan();
  return (
    <Stack gap={14} mt={24}>
      <Divider />
      <Title order={3} fz="md">
        {t.benefits.numbers}
      </Title>
      <List provider={provider} />
      {can("member.read") && <Uses code={provider.code} />}
    </Stack>
  );
}

function List({ provider: { code, numberCount } }: { provider: BenefitProvider }) {
  const t = useText(catalogTexts);
  const [text, setText] = useState("");
  const update = useCall(CatalogService.method.updateBenefitNumbers, { quiet: true });
  const numbers = text.split(/[\n,;]/).filter((line) => /[\p{L}\p{Nd}]/u.test(line));
  const send = useMutation({
    mutationFn: async ({ replace }: { replace: boolean; sent: string }) => {
      for (let i = 0; i < numbers.length; i += most)
        await update.run({
          providerCode: code,
          add: numbers.slice(i, i + most),
          replace: replace && i === 0,
        });
    },
    // Text typed while the call ran stays.
    onSuccess: (_, { sent }) => setText((now) => (now === sent ? "" : now)),
  });
  return (
    <>
      <Textarea
        label={t.benefits.add}
        description={t.benefits.addNote}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        autosize
        minRows={3}
        maxRows={10}
        spellCheck={false}
      />
      <FormError error={send.error} />
      <Group gap={8}>
        <Dimmed mr="auto" fz="sm">
          {t.benefits.count(numberCount)}
        </Dimmed>
        <Button
          variant="default"
          disabled={numbers.length === 0}
          loading={send.isPending}
          onClick={() => send.mutate({ replace: true, sent: text })}
        >
          {t.benefits.replace}
        </Button>
        <Button
          disabled={numbers.length === 0}
          loading={send.isPending}
          onClick={() => send.mutate({ replace: false, sent: text })}
        >
          {t.benefits.addNumbers(numbers.length)}
        </Button>
      </Group>
    </>
  );
}

function Uses({ code }: { code: string }) {
  const t = useText(catalogTexts, uiTexts);
  const { tenant, can } = useMe();
  const [unverified, setUnverified] = useState(false);
  const uses = usePages(
    CatalogService.method.listBenefitMemberships,
    { providerCode: code, filter: unverified ? { verified: false } : {}, pageSize: 50 },
    ({ memberships }) => memberships,
    { keep: true },
  );
  return (
    <QueryResult query={uses} rows={3}>
      {(all) => (
        <>
          <Checkbox
            label={t.benefits.unverifiedOnly}
            checked={unverified}
            onChange={(event) => setUnverified(event.currentTarget.checked)}
          />
          <DataTable
            rows={all}
            empty={<CardHint>{unverified ? t.benefits.allVerified : t.benefits.unused}</CardHint>}
            columns={[
              { title: t.fields.name, show: ({ memberName }) => memberName },
              {
                title: t.ui.membershipNumber,
                show: ({ membershipNumber, verified }) => (
                  <>
                    <code>{membershipNumber}</code>{" "}
                    {!verified && <Tag tone="warn">{t.ui.unverified}</Tag>}
                  </>
                ),
              },
              {
                title: t.common.since,
                show: ({ createTime }) => <Time at={createTime} zone={tenant.timeZone} as="date" />,
              },
              can("member.write") && {
                ta: "right",
                label: t.benefits.release,
                show: ({ memberId, memberName }) => (
                  <CallButton
                    size="compact-sm"
                    variant="default"
                    aria-label={`${t.benefits.release}: ${memberName}`}
                    method={CatalogService.method.deleteBenefitMembership}
                    input={{ providerCode: code, memberId }}
                    done={t.benefits.released}
                  >
                    {t.benefits.release}
                  </CallButton>
                ),
              },
            ]}
          />
          <More query={uses} />
        </>
      )}
    </QueryResult>
  );
}
