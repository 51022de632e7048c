import { useText } from "../../shared/i18n";
import { Card } from "../../shared/ui";
import { DataTable, Dimmed, Hint } from "../ui";
import { headerRow, type Rows } from "./csv";
import classes from "./importer.module.css";
import type { Finding, Report } from "./send";
import { importTexts } from "./texts";

/** How many problems or notes are shown. */
const mostShown = 200;

/** Problems by row and column, with the value of the cell. */
export function Problems({ report, rows }: { report: Report; rows: Rows }) {
  const t = useText(importTexts);
  return (
    <Findings
      title={t.imports.problems(report.wrong, report.rows)}
      extra={t.imports.nothingTaken}
      what={t.imports.wrong}
      found={report.problems}
      report={report}
      rows={rows}
    />
  );
}

/** What became of rows otherwise than their cells say, if anything. */
export function Notes({ report, rows }: { report: Report; rows: Rows }) {
  const t = useText(importTexts);
  if (report.notes.length === 0) return null;
  return (
    <Findings
      title={t.imports.notes(new Set(report.notes.map(({ row }) => row)).size)}
      what={t.imports.becomes}
      found={report.notes}
      report={report}
      rows={rows}
    />
  );
}

interface FindingsProps {
  title: string;
  extra?: string;
  what: string;
  found: readonly Finding[];
  report: Report;
  rows: Rows;
}

function Findings({ title, extra, what, found, report, rows }: FindingsProps) {
  const t = useText(importTexts);
  const shown = found.slice(0, mostShown);
  const cellOf = (row: number, field: string) =>
    rows[row - 1]?.[report.columns.findIndex((column) => column.field === field)];
  return (
    <Card bare title={title} extra={extra && <Dimmed>{extra}</Dimmed>}>
      <DataTable
        rows={shown}
        region={title}
        columns={[
          { title: t.imports.row, ta: "right", c: "dimmed", show: ({ row }) => row },
          {
            title: t.imports.column,
            show: ({ column }) => (column ? <code>{column}</code> : <Dimmed>–</Dimmed>),
          },
          {
            title: t.imports.cell,
            className: classes.cell,
            show: ({ row, column }) =>
              // The file of an import of before is not here.
              column && rows.length > 0 && row > headerRow(rows) ? (
                cellOf(row, column) || <Dimmed>{t.imports.emptyCell}</Dimmed>
              ) : (
                <Dimmed>–</Dimmed>
              ),
          },
          { title: what, show: ({ message }) => message },
        ]}
      />
      {found.length > shown.length && (
        <Hint py={8} px={16}>
          {t.imports.moreProblems(found.length - shown.length)}
        </Hint>
      )}
    </Card>
  );
}
