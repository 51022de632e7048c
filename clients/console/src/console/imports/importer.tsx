import { Alert, Button, FileButton, Progress } from "@mantine/core";
import { IconCircleCheck, IconDownload, IconFileTypeCsv, IconUpload } from "@tabler/icons-react";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { useI18n, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { explain } from "../../shared/errors";
import { here } from "../../shared/time";
import { Card, Tag } from "../../shared/ui";
import { cellAt, type Rows, readCsv } from "./csv";
import type { Report, Send } from "./send";

interface Chosen {
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly rows: Rows;
}

type Step =
  | { readonly kind: "none" }
  | { readonly kind: "reading"; readonly part: number; readonly dry: boolean }
  | { readonly kind: "read"; readonly report: Report }
  | { readonly kind: "done"; readonly report: Report }
  | { readonly kind: "failed"; readonly error: unknown; readonly dry: boolean };

/** How many rows of the file are shown as a sample. */
const sample = 6;

/** How many problems are listed. */
const mostProblems = 200;

/** Imports a file: choose it, check it with a dry run, then import all rows or none. */
export function Importer({
  send,
  columns,
  example,
  most,
  words,
  to,
}: {
  send: Send;
  columns: readonly { name: string; note: string; required: boolean }[];
  example: { name: string; text: string };
  /** In bytes. */
  most: number;
  words: { ready: (n: number) => string; run: (n: number) => string; done: (n: number) => string };
  to: string;
}) {
  const t = useText();
  const d = useDesk();
  const { locale } = useI18n();
  const [file, setFile] = useState<Chosen>();
  const [step, setStep] = useState<Step>({ kind: "none" });
  const [over, setOver] = useState(false);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const run = async (content: Uint8Array<ArrayBuffer>, dry: boolean) => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    setStep({ kind: "reading", part: 0, dry });
    try {
      const report = await send(
        content,
        dry,
        (part) => !mine.signal.aborted && setStep({ kind: "reading", part, dry }),
        mine.signal,
      );
      if (mine.signal.aborted) return;
      setStep({ kind: dry || report.wrong > 0 ? "read" : "done", report });
    } catch (error) {
      if (!mine.signal.aborted) setStep({ kind: "failed", error, dry });
    }
  };
  const choose = async (picked: File | null | undefined) => {
    if (!picked) return;
    const content = new Uint8Array(await picked.arrayBuffer());
    setFile({ name: picked.name, content, rows: readCsv(new TextDecoder().decode(content)) });
    if (content.length > most) {
      setStep({ kind: "none" });
      return;
    }
    await run(content, true);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void choose(event.dataTransfer.files[0]);
  };
  const tooLarge = file !== undefined && file.content.length > most;
  const report = step.kind === "read" ? step.report : undefined;
  const good = report && report.wrong === 0 && report.rows > 0;
  return (
    <div className="split">
      <div className="stack">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same */}
        <div
          className={`drop ${over ? "over" : ""}`}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <IconFileTypeCsv size={36} stroke={1.3} aria-hidden />
          <div>
            <strong>{file ? file.name : d.imports.drop}</strong>
            <div className="muted" style={{ fontSize: 13 }}>
              {file
                ? d.imports.size(Math.max(0, file.rows.length - 1), file.content.length / 1000)
                : d.imports.dropNote}
            </div>
          </div>
          <FileButton
            // A new key, so that choosing the same file again triggers onChange.
            key={step.kind}
            accept=".csv,.tsv,text/csv"
            onChange={(picked) => void choose(picked)}
          >
            {(props) => (
              <Button
                {...props}
                variant={file ? "default" : "filled"}
                leftSection={<IconUpload size={16} />}
              >
                {file ? d.imports.other : d.imports.choose}
              </Button>
            )}
          </FileButton>
        </div>
        <div aria-live="polite" className="stack">
          {tooLarge && <Alert color="red">{d.imports.tooLarge(most / 1_000_000)}</Alert>}
          {step.kind === "reading" && (
            <Card title={step.dry ? d.imports.trying : d.imports.importing}>
              <Progress
                value={step.part * 100 || 100}
                animated
                aria-label={step.dry ? d.imports.trying : d.imports.importing}
              />
            </Card>
          )}
          {step.kind === "failed" && (
            <Alert
              color="red"
              title={step.dry ? d.imports.notRead : d.imports.unknown}
              variant="light"
            >
              <p style={{ margin: "0 0 10px" }}>{explain(step.error, t, locale, here())}</p>
              {!step.dry && <p style={{ margin: "0 0 10px" }}>{d.imports.unknownNote}</p>}
              {file && (
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() => void run(file.content, true)}
                >
                  {d.imports.tryAgain}
                </Button>
              )}
            </Alert>
          )}
          {report && file && report.wrong > 0 && <Problems report={report} rows={file.rows} />}
          {report && report.wrong === 0 && report.rows === 0 && (
            <Alert color="yellow">{d.imports.empty}</Alert>
          )}
          {good && file && (
            <>
              <div className="verdict">
                <IconCircleCheck size={22} aria-hidden />
                <span>
                  <strong>{words.ready(report.rows)}</strong>
                  <div className="muted">{d.imports.nothingYet}</div>
                </span>
                <Button onClick={() => void run(file.content, false)}>
                  {words.run(report.rows)}
                </Button>
              </div>
              <Sample rows={file.rows} />
            </>
          )}
          {step.kind === "done" && (
            <div className="verdict">
              <IconCircleCheck size={22} aria-hidden />
              <span>
                <strong>{words.done(step.report.imported)}</strong>
              </span>
              <Button component={Link} to={to} variant="default">
                {d.imports.view}
              </Button>
            </div>
          )}
        </div>
      </div>
      <Card
        title={d.imports.columnsTitle}
        extra={
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconDownload size={14} />}
            component="a"
            download={example.name}
            href={`data:text/csv;charset=utf-8,${encodeURIComponent(example.text)}`}
          >
            {d.imports.example}
          </Button>
        }
      >
        <dl className="csv-columns">
          {columns.map(({ name, note, required }) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
                {required && <Tag tone="accent">{d.imports.required}</Tag>}
              </dt>
              <dd className="muted">{note}</dd>
            </div>
          ))}
        </dl>
        <p className="muted form-note">{d.imports.format}</p>
      </Card>
    </div>
  );
}

/** Problems by row and column, with the value of the cell. */
function Problems({ report, rows }: { report: Report; rows: Rows }) {
  const d = useDesk();
  const shown = report.problems.slice(0, mostProblems);
  return (
    <Card
      bare
      title={d.imports.problems(report.wrong, report.rows)}
      extra={<span className="muted">{d.imports.nothingTaken}</span>}
    >
      <div className="scroll-x">
        <table className="table">
          <thead>
            <tr>
              <th scope="col" className="right">
                {d.imports.row}
              </th>
              <th scope="col">{d.imports.column}</th>
              <th scope="col">{d.imports.cell}</th>
              <th scope="col">{d.imports.wrong}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ row, column, message }) => (
              <tr key={`${row} ${column} ${message}`}>
                <td className="right num muted">{row}</td>
                <td>{column ? <code>{column}</code> : <span className="muted">–</span>}</td>
                <td className="csv-cell">
                  {column && row > 1 ? (
                    cellAt(rows, row, column) || (
                      <span className="muted">{d.imports.emptyCell}</span>
                    )
                  ) : (
                    <span className="muted">–</span>
                  )}
                </td>
                <td>{message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {report.problems.length > shown.length && (
        <p className="muted" style={{ padding: "8px 16px", margin: 0 }}>
          {d.imports.moreProblems(report.problems.length - shown.length)}
        </p>
      )}
    </Card>
  );
}

function Sample({ rows }: { rows: Rows }) {
  const d = useDesk();
  const [header = [], ...rest] = rows.filter((row) => row.some((cell) => cell.trim() !== ""));
  return (
    <Card bare title={d.imports.sample}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must reach scrollable content */}
      <section className="scroll-x" tabIndex={0} aria-label={d.imports.sample}>
        <table className="table">
          <thead>
            <tr>
              {header.map((name, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
                <th scope="col" key={at}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rest.slice(0, sample).map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id
              <tr key={at}>
                {header.map((_, column) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
                  <td key={column} className="csv-cell">
                    {row[column]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Card>
  );
}
