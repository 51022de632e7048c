import { Alert, Button, Group, TextInput } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useText } from "../../shared/i18n";
import { Card } from "../../shared/ui";
import { DataTable, Dimmed, Hint } from "../ui";
import { type Cell, headerRow, type Rows } from "./csv";
import classes from "./importer.module.css";
import { type Finding, type Import, type Report, useSaveLeftOut } from "./send";
import { importTexts } from "./texts";

/** How many problems or notes are shown. */
const mostShown = 200;

interface ProblemsProps {
  report: Report;
  rows: Rows;
  /** Checks the file again with other cells. Without it, they are only shown. */
  mend?: Import["mend"] | undefined;
}

/** Problems by row and column, with the value of the cell: to be mended here, or in a file of these rows alone. */
export function Problems({ report, rows, mend }: ProblemsProps) {
  const t = useText(importTexts);
  const [cells, setCells] = useState<readonly Cell[]>([]);
  const save = useSaveLeftOut();
  const saving = useMutation({ mutationFn: () => save(report.id) });
  const change = (cell: Cell) =>
    setCells([...cells.filter(({ row, at }) => row !== cell.row || at !== cell.at), cell]);
  return (
    <>
      <Findings
        title={t.imports.problems(report.wrong, report.rows)}
        extra={
          <Group gap={10} wrap="wrap">
            {report.failed && <Dimmed>{t.imports.nothingTaken}</Dimmed>}
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconDownload size={14} />}
              loading={saving.isPending}
              onClick={() => saving.mutate()}
            >
              {t.imports.saveLeftOut}
            </Button>
            {mend && cells.length > 0 && (
              <Button size="compact-sm" onClick={() => mend(cells)}>
                {t.imports.checkMended(cells.length)}
              </Button>
            )}
          </Group>
        }
        what={t.imports.wrong}
        found={report.problems}
        report={report}
        rows={rows}
        change={mend && change}
      />
      {(saving.isError || saving.data === false) && (
        <Alert color="yellow">{t.imports.leftOutGone}</Alert>
      )}
    </>
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
  extra?: ReactNode;
  what: string;
  found: readonly Finding[];
  report: Report;
  rows: Rows;
  /** Takes another text for a cell. Without it, cells are only shown. */
  change?: ((cell: Cell) => void) | undefined;
}

function Findings({ title, extra, what, found, report, rows, change }: FindingsProps) {
  const t = useText(importTexts);
  const shown = found.slice(0, mostShown);
  const place = (field: string) => report.columns.findIndex((column) => column.field === field);
  return (
    <Card bare title={title} extra={extra}>
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
              column && place(column) >= 0 && row > headerRow(rows) && rows[row - 1] ? (
                <CellText
                  key={`${row} ${column}`}
                  label={t.imports.cellOf(column, row)}
                  row={row}
                  at={place(column)}
                  text={rows[row - 1]?.[place(column)] ?? ""}
                  change={change}
                />
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

interface CellTextProps extends Cell {
  label: string;
  change: ((cell: Cell) => void) | undefined;
}

/** The text of a cell, in a field if it can be changed. */
function CellText({ label, row, at, text, change }: CellTextProps) {
  const t = useText(importTexts);
  if (!change) return text || <Dimmed>{t.imports.emptyCell}</Dimmed>;
  return (
    <TextInput
      size="xs"
      miw={140}
      aria-label={label}
      placeholder={t.imports.emptyCell}
      defaultValue={text}
      onChange={({ currentTarget: { value } }) => change({ row, at, text: value })}
    />
  );
}
