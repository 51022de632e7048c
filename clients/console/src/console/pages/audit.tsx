import { AuditActorKind, type AuditEntry, AuditService } from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Button, Select, TextInput } from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { useDebouncedValue } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight, IconHistory } from "@tabler/icons-react";
import { Fragment, useState } from "react";
import { Link } from "react-router";
import { useText } from "../../i18n";
import { useAddress } from "../../shared/address";
import { useMe } from "../../shared/me";
import { millis, startOf, Temporal } from "../../shared/time";
import { More, PageHead, paged, Shown, State, Tag, Time } from "../../shared/ui";

export function AuditPage() {
  const t = useText();
  const { tenant } = useMe();
  const [params, change] = useAddress();
  const kind = params.get("kind") ?? "";
  const actor = params.get("actor") ?? "0";
  const [action, setAction] = useState(params.get("action") ?? "");
  const [settled] = useDebouncedValue(action.trim(), 250);
  const [range, setRange] = useState<[string | null, string | null]>([null, null]);
  const [first, last] = range;
  const entries = useInfiniteQuery(
    AuditService.method.listAuditEntries,
    {
      targetKind: kind,
      targetId: params.get("target") ?? "",
      batchId: params.get("batch") ?? "",
      actorKind: Number(actor),
      action: /^[a-z_]+\.[a-z_]+$/.test(settled) ? settled : "",
      ...(first &&
        last && {
          timeRange: {
            start: startOf(Temporal.PlainDate.from(first), tenant.timeZone),
            end: timestampFromMs(
              millis(startOf(Temporal.PlainDate.from(last).add({ days: 1 }), tenant.timeZone)),
            ),
          },
        }),
      pageSize: 50,
      pageToken: "",
    },
    {
      ...paged,
      placeholderData: (before) => before,
    },
  );
  return (
    <div className="page">
      <PageHead title={t.nav.audit} note={t.audit.note} />
      <div className="filters">
        <DatePickerInput
          type="range"
          placeholder={t.audit.when}
          aria-label={t.audit.when}
          clearable
          w={210}
          value={range}
          valueFormat="D MMM YYYY"
          onChange={setRange}
          allowSingleDateInRange
        />
        <Select
          aria-label={t.audit.who}
          w={150}
          allowDeselect={false}
          value={actor}
          onChange={(value) => change({ actor: value === "0" ? null : value })}
          data={[
            { value: "0", label: t.audit.anyActor },
            { value: String(AuditActorKind.MEMBER), label: t.audit.people },
            { value: String(AuditActorKind.SERVICE_ACCOUNT), label: t.audit.programs },
            { value: String(AuditActorKind.SYSTEM), label: t.audit.system },
          ]}
        />
        <Select
          aria-label={t.audit.target}
          placeholder={t.audit.anything}
          clearable
          searchable
          w={180}
          value={kind || null}
          onChange={(value) => change({ kind: value })}
          data={Object.entries(t.audit.kinds).map(([value, label]) => ({ value, label }))}
        />
        <TextInput
          aria-label={t.audit.action}
          placeholder="session.cancelled"
          w={200}
          value={action}
          onChange={(event) => setAction(event.currentTarget.value)}
        />
        {(params.get("target") || params.get("batch")) && (
          <Button
            variant="subtle"
            onClick={() => change({ kind: null, actor: null, target: null, batch: null })}
          >
            {t.actions.reset}
          </Button>
        )}
      </div>
      <div className="card">
        <Shown of={entries} rows={12}>
          {({ pages }) => {
            const all = pages.flatMap((page) => page.entries);
            return all.length === 0 ? (
              <State icon={IconHistory} title={t.audit.none}>
                {t.audit.noneNote}
              </State>
            ) : (
              <Log entries={all} zone={tenant.timeZone} />
            );
          }}
        </Shown>
      </div>
      <More of={entries} />
    </div>
  );
}

const pages: Record<string, string> = { session: "/sessions/", member: "/members/" };

function Log({ entries, zone }: { entries: readonly AuditEntry[]; zone: string }) {
  const t = useText();
  const [open, setOpen] = useState<string>();
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t.audit.when}</th>
            <th scope="col">{t.audit.who}</th>
            <th scope="col">{t.audit.what}</th>
            <th scope="col">{t.audit.target}</th>
            <th scope="col" aria-label={t.actions.more} />
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => {
            const shown = open === entry.id;
            const page = pages[entry.targetKind];
            return (
              <Fragment key={entry.id}>
                <tr>
                  <td className="muted" style={{ whiteSpace: "nowrap" }}>
                    <Time at={entry.time} zone={zone} as="full" />
                  </td>
                  <td>
                    {entry.actor?.kind === AuditActorKind.SYSTEM
                      ? t.audit.system
                      : entry.actor?.name || entry.actor?.subject}
                  </td>
                  <td>
                    <code style={{ fontSize: 12 }}>{entry.action}</code>
                    {entry.reason && <div className="muted">{entry.reason}</div>}
                  </td>
                  <td>
                    {page && entry.targetId ? (
                      <Link to={page + entry.targetId}>
                        {t.audit.kinds[entry.targetKind] ?? entry.targetKind}
                      </Link>
                    ) : (
                      <>
                        {t.audit.kinds[entry.targetKind] ?? entry.targetKind}{" "}
                        {entry.targetId.length < 30 && (
                          <span className="muted">{entry.targetId}</span>
                        )}
                      </>
                    )}
                  </td>
                  <td className="right">
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      color="gray"
                      aria-expanded={shown}
                      aria-label={`${t.actions.more}: ${entry.action}`}
                      onClick={() => setOpen(shown ? undefined : entry.id)}
                    >
                      {shown ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
                    </Button>
                  </td>
                </tr>
                {shown && (
                  <tr>
                    <td colSpan={5} style={{ background: "var(--sunken)" }}>
                      <Changes entry={entry} />
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const text = (value: unknown): string =>
  value === undefined || value === null || value === ""
    ? "–"
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);

function Changes({ entry }: { entry: AuditEntry }) {
  const t = useText();
  const { before, after, ...rest } = (entry.changes ?? {}) as Record<string, unknown>;
  const was = (before ?? {}) as Record<string, unknown>;
  const is = (after ?? {}) as Record<string, unknown>;
  const fields = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return (
    <div style={{ display: "grid", gap: 12, padding: "4px 4px 8px" }}>
      {fields.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t.audit.field}</th>
              <th scope="col">{t.audit.before}</th>
              <th scope="col">{t.audit.after}</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <tr key={field}>
                <td>
                  <code style={{ fontSize: 12 }}>{field}</code>
                </td>
                <td style={{ overflowWrap: "anywhere", color: "var(--bad)" }}>
                  {text(was[field])}
                </td>
                <td style={{ overflowWrap: "anywhere", color: "var(--good)" }}>
                  {text(is[field])}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <dl className="facts">
        {Object.entries(rest).map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{text(value)}</dd>
          </Fragment>
        ))}
        {entry.batchId && (
          <>
            <dt>{t.audit.batch}</dt>
            <dd>
              <Link to={`?batch=${entry.batchId}`}>{entry.batchId}</Link>
            </dd>
          </>
        )}
        {entry.requestId && (
          <>
            <dt>{t.audit.request}</dt>
            <dd>
              <code style={{ fontSize: 12 }}>{entry.requestId}</code>
            </dd>
          </>
        )}
        {entry.targetId && (
          <>
            <dt>{t.audit.target}</dt>
            <dd>
              <Tag tone="plain">{entry.targetKind}</Tag>{" "}
              <Link to={`?kind=${entry.targetKind}&target=${entry.targetId}`}>
                {entry.targetId}
              </Link>
            </dd>
          </>
        )}
      </dl>
    </div>
  );
}
