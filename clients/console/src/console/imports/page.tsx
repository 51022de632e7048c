import { ImportService, ImportStatus } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Box, Button, FileButton, Group, Progress, Stack, Text } from "@mantine/core";
import { IconCircleCheck, IconDownload, IconFileTypeCsv, IconUpload } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import { explain } from "../../shared/api/errors";
import { useCan } from "../../shared/auth/user";
import { here } from "../../shared/format/time";
import { useI18n, useText } from "../../shared/i18n";
import { Card, PageHead, Tag, Time, type Tone } from "../../shared/ui";
import { routes } from "../routes";
import { DataTable, FieldHint, Page, Split, Tabbed } from "../ui";
import { Columns } from "./columns";
import { headerRow, type Rows } from "./csv";
import zone from "./drop-zone.module.css";
import { Notes, Problems } from "./findings";
import classes from "./importer.module.css";
import { InviteImported } from "./invite";
import {
  type Import,
  type Kind,
  reportOf,
  type Send,
  useImport,
  useRecentImports,
  useSend,
} from "./send";
import { importTexts } from "./texts";
import { UndoButton, UndoNote } from "./undo";

const examples = {
  sessions:
    "service,location,date,start,duration_minutes,capacity,title,status\n" +
    "Vinyasa,Harbour,2027-03-29,18:00,60,12,Evening flow,draft\n",
  members:
    "name,email,phone,tier,tags,notes\nAna Silva,ana@example.com,+351912345678,gold,early bird,\n",
  bookings:
    "service,start,date,email,seats,credits_paid\nVinyasa,18:00,2027-03-29,ana@example.com,1,yes\n",
  plans:
    "plan,email,balance,start,renewal,end\nTen classes,ana@example.com,7,2026-11-02,,2027-11-01\n",
};

/** Imports sessions, members or what members have from a spreadsheet. */
export function ImportsPage() {
  const t = useText(importTexts);
  const can = useCan();
  const kinds = {
    sessions: {
      required: 4,
      most: 1_048_576,
      send: useSend("sessions"),
      to: routes.schedule.path(),
    },
    members: { required: 1, most: 3_000_000, send: useSend("members"), to: routes.members.path() },
    bookings: {
      required: 2,
      most: 3_000_000,
      send: useSend("bookings"),
      to: routes.schedule.path(),
    },
    plans: { required: 1, most: 3_000_000, send: useSend("plans"), to: routes.members.path() },
  };
  const show = (kind: Kind) => () => (
    <Stack gap={18}>
      <Importer kind={kind} {...kinds[kind]} />
      {can("import.read") && <Recent kind={kind} />}
    </Stack>
  );
  return (
    <Page>
      <PageHead title={t.nav.imports} note={t.imports.note} />
      <Tabbed
        name="what"
        keep
        parts={[
          can("session.import") && ["sessions", t.nav.schedule, show("sessions")],
          can("member.import") && ["members", t.nav.members, show("members")],
          can("subscription.import") && ["plans", t.nav.plans, show("plans")],
          can("booking.import") && ["bookings", t.imports.bookingsTab, show("bookings")],
        ]}
      />
    </Page>
  );
}

interface Props {
  kind: Kind;
  send: Send;
  /** In bytes. */
  most: number;
  /** How many of the first columns are required. */
  required: number;
  /** Where the imported rows are shown. */
  to: string;
}

/** Imports a file: choose it, check it with a dry run, mend it, then import the rows without problems. */
function Importer({ kind, send, most, required, to }: Props) {
  const t = useText(importTexts);
  const importing = useImport(send, most);
  return (
    <Split>
      <Stack gap={18}>
        <DropZone of={importing} />
        <Columns of={importing} kind={kind} />
        <Stack aria-live="polite" gap={18}>
          {importing.tooLarge && <Alert color="red">{t.imports.tooLarge(most / 1_000_000)}</Alert>}
          <Progressing of={importing} words={t.imports[kind]} to={to} />
        </Stack>
      </Stack>
      <Format kind={kind} required={required} />
    </Split>
  );
}

interface ProgressingProps {
  of: Import;
  words: {
    ready: (n: number) => string;
    run: (n: number) => string;
    done: (n: number) => string;
    /** Compares what the file adds up to with the ledger. */
    total?: (file: number, ledger: number) => string;
    /** What is sent about what is imported. */
    told?: string;
  };
  to: string;
}

/** How far the import is, and its result. */
function Progressing({ of, words, to }: ProgressingProps) {
  const { file, sending, part, run } = of;
  const { t, locale } = useI18n(importTexts);
  const { status, variables, data: report, error } = sending;
  if (!file || status === "idle") return null;
  const { dryRun: dry } = variables;
  if (status === "pending") {
    const title = dry ? t.imports.trying : t.imports.importing;
    return (
      <Card title={title}>
        <Progress value={part * 100 || 100} animated aria-label={title} />
      </Card>
    );
  }
  if (status === "error") {
    return (
      <Alert color="red" title={dry ? t.imports.notRead : t.imports.unknown} variant="light">
        <Text inherit mb={10}>
          {explain(error, t, locale, here())}
        </Text>
        {!dry && (
          <Text inherit mb={10}>
            {t.imports.unknownNote}
          </Text>
        )}
        <Button size="compact-sm" variant="default" onClick={() => run(true)}>
          {t.imports.tryAgain}
        </Button>
      </Alert>
    );
  }
  const total = report.total && words.total?.(report.total.file, report.total.ledger);
  const problems = report.wrong > 0 && (
    <Problems report={report} rows={file.rows} mend={dry ? of.mend : undefined} />
  );
  if (report.failed) return problems;
  if (!dry) {
    return (
      <>
        <Verdict title={words.done(report.imported)} total={total}>
          <Button component={Link} to={to} variant="default">
            {t.imports.view}
          </Button>
        </Verdict>
        {problems}
        <Notes report={report} rows={file.rows} />
      </>
    );
  }
  if (report.rows === 0) return <Alert color="yellow">{t.imports.empty}</Alert>;
  const good = report.rows - report.wrong;
  return (
    <>
      <Verdict
        title={words.ready(good)}
        total={total}
        told={words.told}
        note={report.wrong > 0 ? t.imports.othersLeftOut(report.wrong) : t.imports.nothingYet}
      >
        <Button onClick={() => run(false)}>{words.run(good)}</Button>
      </Verdict>
      {problems}
      <Notes report={report} rows={file.rows} />
      <Sample rows={file.rows} />
    </>
  );
}

const tones: Record<ImportStatus, Tone> = {
  [ImportStatus.UNSPECIFIED]: "plain",
  [ImportStatus.PENDING]: "plain",
  [ImportStatus.RUNNING]: "accent",
  [ImportStatus.SUCCEEDED]: "good",
  [ImportStatus.FAILED]: "warn",
  [ImportStatus.UNDOING]: "accent",
  [ImportStatus.UNDONE]: "plain",
};

const withProblems = ({ status, rowsInvalid }: { status: ImportStatus; rowsInvalid: number }) =>
  status === ImportStatus.FAILED || (status === ImportStatus.SUCCEEDED && rowsInvalid > 0);

const done = (status: ImportStatus) => status === ImportStatus.SUCCEEDED;

/** The newest imports, also those that were started before the page was loaded, with their progress and problems. */
function Recent({ kind }: { kind: Kind }) {
  const t = useText(importTexts);
  const [shown, setShown] = useState("");
  const { imports = [] } = useRecentImports(kind).data ?? {};
  const can = useCan();
  const chosen = imports.find(({ id }) => id === shown);
  const newest = imports.find(({ status, createdCount }) => done(status) && createdCount > 0);
  const details = useQuery(
    ImportService.method.getImport,
    { importId: shown },
    { enabled: chosen !== undefined && withProblems(chosen) },
  );
  const found = details.data?.fileImport;
  if (imports.length === 0) return null;
  return (
    <>
      {kind === "members" && newest && can("member.write") && can("member.read") && (
        <InviteImported key={newest.id} importId={newest.id} />
      )}
      <Card bare title={t.imports.recent}>
        <DataTable
          rows={imports}
          id="id"
          columns={[
            {
              title: t.imports.started,
              show: ({ createTime }) => <Time at={createTime} zone={here()} />,
            },
            {
              title: t.imports.state,
              show: ({ status, dryRun }) => (
                <Tag tone={tones[status]}>{t.imports.states(status, dryRun)}</Tag>
              ),
            },
            {
              title: t.imports.progress,
              show: (one) => (
                <>
                  {t.imports.rowsDone(one.rowsDone, one.rowsTotal)}
                  <UndoNote of={one} />
                </>
              ),
            },
            {
              ta: "right",
              show: (one) => (
                <Group gap={6} justify="flex-end">
                  {withProblems(one) && (
                    <Button size="compact-sm" variant="default" onClick={() => setShown(one.id)}>
                      {t.imports.showProblems(one.rowsInvalid)}
                    </Button>
                  )}
                  <UndoButton kind={kind} of={one} />
                </Group>
              ),
            },
          ]}
        />
      </Card>
      {found && found.id === shown && <Problems report={reportOf(found)} rows={[]} />}
    </>
  );
}

interface VerdictProps {
  title: string;
  total?: string | undefined;
  told?: string | undefined;
  note?: string;
  children: ReactNode;
}

function Verdict({ title, total, told, note, children }: VerdictProps) {
  return (
    <div className={classes.verdict}>
      <IconCircleCheck size={22} color="var(--good)" aria-hidden />
      <Box component="span" flex="1 1 200px">
        <strong>{title}</strong>
        {total && <Box>{total}</Box>}
        {told && <Box>{told}</Box>}
        {note && <Box c="dimmed">{note}</Box>}
      </Box>
      {children}
    </div>
  );
}

/** The columns of the file, with an example to download. */
function Format({ kind, required }: Pick<Props, "kind" | "required">) {
  const t = useText(importTexts);
  return (
    <Card
      title={t.imports.columnsTitle}
      extra={
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconDownload size={14} />}
          component="a"
          download={`${kind}.csv`}
          href={`data:text/csv;charset=utf-8,${encodeURIComponent(examples[kind])}`}
        >
          {t.imports.example}
        </Button>
      }
    >
      <dl className={classes.columns}>
        {Object.entries(t.imports.columns[kind]).map(([name, note], at) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
              {at < required && <Tag tone="accent">{t.imports.required}</Tag>}
            </dt>
            <dd>{note}</dd>
          </div>
        ))}
      </dl>
      <FieldHint>{t.imports.format}</FieldHint>
    </Card>
  );
}

/** Spreadsheets and other programs leave empty rows behind the others. */
const isFilled = (row: Rows[number]) => row.some((cell) => cell.trim() !== "");

/** Where a file is dropped or chosen. */
function DropZone({ of: { file, sending, choose } }: { of: Import }) {
  const t = useText(importTexts);
  const [over, setOver] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same
    <div
      className={zone.zone}
      data-over={over || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        choose(event.dataTransfer.files[0]);
      }}
    >
      <IconFileTypeCsv size={36} stroke={1.3} color="var(--ink-3)" aria-hidden />
      <div>
        <strong>{file ? file.name : t.imports.drop}</strong>
        <Box c="dimmed" fz="sm">
          {file
            ? t.imports.size(
                file.rows.slice(headerRow(file.rows)).filter(isFilled).length,
                file.content.length / 1000,
              )
            : t.imports.dropNote}
        </Box>
      </div>
      <FileButton
        // A new key, so that choosing the same file again triggers onChange.
        key={sending.status}
        accept=".csv,.tsv,text/csv"
        onChange={choose}
      >
        {(props) => (
          <Button
            {...props}
            className={zone.button}
            variant={file ? "default" : "filled"}
            leftSection={<IconUpload size={16} />}
          >
            {file ? t.imports.other : t.imports.choose}
          </Button>
        )}
      </FileButton>
    </div>
  );
}

/** How many rows of the file are shown as a sample. */
const sample = 6;

function Sample({ rows }: { rows: Rows }) {
  const t = useText(importTexts);
  const [header = [], ...rest] = rows.slice(headerRow(rows) - 1).filter(isFilled);
  return (
    <Card bare title={t.imports.sample}>
      <DataTable
        rows={rest.slice(0, sample)}
        region={t.imports.sample}
        columns={header.map((title, at) => ({
          title,
          className: classes.cell,
          show: (row: readonly string[]) => row[at],
        }))}
      />
    </Card>
  );
}
