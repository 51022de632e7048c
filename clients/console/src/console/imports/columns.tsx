import { Select } from "@mantine/core";
import { useText } from "../../shared/i18n";
import { Card } from "../../shared/ui";
import { Dimmed } from "../ui";
import { headerRow } from "./csv";
import classes from "./importer.module.css";
import type { Column, Import, Kind } from "./send";
import { importTexts } from "./texts";

/** What becomes of each column of the file, to be changed by hand. */
export function Columns({ of, kind }: { of: Import; kind: Kind }) {
  const t = useText(importTexts);
  const { file, columns, sending, map } = of;
  const named = columns.filter(({ name }) => name !== "").length;
  if (!file || named === 0) return null;
  const fields = Object.entries(t.imports.fields[kind]).map(([value, label]) => ({ value, label }));
  const first = file.rows
    .slice(headerRow(file.rows))
    .find((row) => row.some((cell) => cell.trim()));
  const left = columns.filter(({ name, field }) => name !== "" && field === "").length;
  return (
    <Card title={t.imports.mapTitle} extra={left > 0 && <Dimmed>{t.imports.leftOut(left)}</Dimmed>}>
      <div className={classes.map}>
        {columns.map(
          ({ name, field }, at) =>
            name !== "" && (
              <Select
                // biome-ignore lint/suspicious/noArrayIndexKey: names can repeat, and the order never changes
                key={at}
                size="xs"
                label={name}
                description={first?.[at]?.trim() || t.imports.emptyCell}
                placeholder={t.imports.leaveOut}
                data={fields}
                value={field || null}
                clearable
                disabled={sending.isPending}
                onChange={(value) => map(moved(columns, at, value ?? ""))}
              />
            ),
        )}
      </div>
    </Card>
  );
}

/** The columns after one of them gets a field, which another may have had. */
export function moved(columns: readonly Column[], at: number, field: string): Column[] {
  return columns.map((column, n) => {
    if (n === at) return { ...column, field };
    return column.field === field ? { ...column, field: "" } : column;
  });
}
