import { ActorKind, type AuditEntry, AuditService } from "@berthhq/client";
import { Button, Group, Select, Stack, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconHistory } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router";
import { usePages } from "../../shared/api/pages";
import { useMe } from "../../shared/auth/user";
import { options } from "../../shared/forms/options";
import { useText } from "../../shared/i18n";
import { PageHead, State, Tag } from "../../shared/ui";
import { routes } from "../routes";
import {
  Code,
  DataTable,
  type Days,
  DaysFilter,
  Dimmed,
  Facts,
  List,
  MoreButton,
  NumberSelect,
  Page,
  quiet,
  TenantTime,
  timeRangeOf,
} from "../ui";
import text from "../ui/text.module.css";
import { uiTexts } from "../ui/texts";
import { accountTexts } from "./texts";

export function AuditPage() {
  const t = useText(accountTexts, uiTexts);
  const { tenant } = useMe();
  const [search, change] = routes.audit.useSearch();
  const { kind, actor, target, batch } = search;
  const [action, setAction] = useState(search.action);
  const [settled] = useDebouncedValue(action.trim(), 250);
  const [days, setDays] = useState<Days>([null, null]);
  const [open, setOpen] = useState<string>();
  const entries = usePages(
    AuditService.method.listAuditEntries,
    {
      filter: {
        targetKind: kind,
        targetId: target,
        batchId: batch,
        actorKind: actor,
        action: /^[a-z_]+\.[a-z_]+$/.test(settled) ? settled : "",
        occurredWithin: timeRangeOf(days, tenant.timeZone),
      },
      pageSize: 50,
    },
    (page) => page.entries,
    { keep: true },
  );
  const actors: Record<ActorKind, string> = {
    [ActorKind.UNSPECIFIED]: "",
    [ActorKind.MEMBER]: t.audit.people,
    [ActorKind.SERVICE_ACCOUNT]: t.audit.programs,
    [ActorKind.SYSTEM]: t.audit.system,
  };
  return (
    <Page>
      <PageHead title={t.nav.audit} note={t.audit.note} />
      <Group gap={8} mb={12}>
        <DaysFilter label={t.ui.when} value={days} onChange={setDays} />
        <NumberSelect
          label={t.ui.who}
          names={actors}
          any={t.audit.anyActor}
          value={actor}
          onChange={(actor) => change({ actor })}
        />
        <Select
          aria-label={t.audit.target}
          placeholder={t.audit.anything}
          clearable
          searchable
          w={180}
          value={kind || null}
          onChange={(value) => change({ kind: value ?? "" })}
          data={options(t.audit.kinds)}
        />
        <TextInput
          aria-label={t.audit.action}
          placeholder="session.cancelled"
          w={200}
          value={action}
          onChange={(event) => setAction(event.currentTarget.value)}
        />
        {(target || batch) && (
          <Button
            variant="subtle"
            onClick={() => change({ kind: "", actor: 0, target: "", batch: "" })}
          >
            {t.actions.reset}
          </Button>
        )}
      </Group>
      <List
        query={entries}
        skeleton={12}
        empty={<State icon={IconHistory} title={t.audit.none} note={t.audit.noneNote} />}
        details={(entry) => open === entry.id && <Changes entry={entry} />}
        columns={[
          {
            title: t.ui.when,
            ...quiet,
            show: ({ time }) => <TenantTime at={time} as="full" />,
          },
          {
            title: t.ui.who,
            show: ({ actor, subject }) =>
              actor?.kind === ActorKind.SYSTEM ? t.audit.system : actor?.name || subject,
          },
          {
            title: t.audit.what,
            show: ({ action, reason }) => (
              <>
                <Code>{action}</Code>
                {reason && <Dimmed display="block">{reason}</Dimmed>}
              </>
            ),
          },
          {
            title: t.audit.target,
            show: ({ targetKind, targetId }) => {
              const page = pages[targetKind];
              const name = t.audit.kinds[targetKind] ?? targetKind;
              if (page && targetId) return <Link to={page(targetId)}>{name}</Link>;
              return (
                <>
                  {name} {targetId.length < 30 && <Dimmed>{targetId}</Dimmed>}
                </>
              );
            },
          },
          {
            label: t.actions.more,
            ta: "right",
            show: ({ id, action }) => (
              <MoreButton
                of={action}
                open={open === id}
                onClick={() => setOpen(open === id ? undefined : id)}
              />
            ),
          },
        ]}
      />
    </Page>
  );
}

/** The pages of targets. */
const pages: Record<string, (id: string) => string> = {
  session: (id) => routes.session.path({ id }),
  member: (id) => routes.member.path({ id }),
};

const show = (value: unknown): string =>
  typeof value === "object" && value ? JSON.stringify(value) : String(value ?? "") || "–";

type Values = Record<string, unknown>;

function Changes({ entry }: { entry: AuditEntry }) {
  const t = useText(accountTexts);
  const { before, after, ...rest } = (entry.changes ?? {}) as Record<string, Values>;
  const fields = Object.keys({ ...before, ...after }).map((field) => ({ field }));
  const values = (title: string, c: string, of: Values = {}) => ({
    title,
    c,
    className: text.anywhere ?? "",
    show: ({ field }: { field: string }) => show(of[field]),
  });
  return (
    <Stack gap={12} pt={4} pb={8} px={4}>
      {fields.length > 0 && (
        <DataTable
          rows={fields}
          id="field"
          columns={[
            { title: t.audit.field, show: ({ field }) => <Code>{field}</Code> },
            values(t.audit.before, "var(--bad)", before),
            values(t.audit.after, "var(--good)", after),
          ]}
        />
      )}
      <Facts
        of={[
          ...Object.entries(rest).map(([name, value]) => [name, show(value)] as const),
          [
            t.audit.batch,
            entry.batchId && (
              <Link to={routes.audit.path({ batch: entry.batchId })}>{entry.batchId}</Link>
            ),
          ],
          [t.audit.address, entry.address && <Code key="address">{entry.address}</Code>],
          [t.audit.client, entry.client],
          [t.audit.request, entry.requestId && <Code key="request">{entry.requestId}</Code>],
          [
            t.audit.target,
            entry.targetId && (
              <>
                <Tag tone="plain">{entry.targetKind}</Tag>{" "}
                <Link to={routes.audit.path({ kind: entry.targetKind, target: entry.targetId })}>
                  {entry.targetId}
                </Link>
              </>
            ),
          ],
        ]}
      />
    </Stack>
  );
}
