import { Table, type TableTdProps, type TableTrProps } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import classes from "./data-table.module.css";

/** A column: its title, what it shows, and the props of its cells. */
export interface Column<T> extends Omit<TableTdProps, "title"> {
  readonly title?: string | undefined;
  /** Names a column without a title, for screen readers. */
  readonly label?: string;
  readonly show: (row: T, index: number) => ReactNode;
}

export interface TableProps<T> {
  rows: readonly T[];
  columns: readonly (Column<T> | false)[];
  /** The property that identifies a row. Rows without it keep their places. */
  id?: keyof T;
  rowProps?: (row: T) => TableTrProps;
  /** Each row is a link as a whole. A RowLink in it has the address. */
  linked?: boolean;
  /** Shown below a row. */
  details?: (row: T) => ReactNode;
  /** Shown if there are no rows. */
  empty?: ReactNode;
  /** Names the table for screen readers. */
  caption?: string;
  /** Names a table that may be much wider than the screen. Keyboards can scroll it. */
  region?: string;
  className?: string | undefined;
  /** In pixels. A longer table scrolls. */
  maxHeight?: number;
}

/** A table with a row for each entity. */
export function DataTable<T extends object>(props: TableProps<T>) {
  const { rows, id = "id" as keyof T, rowProps, linked, details, empty } = props;
  const { caption, region, className, maxHeight } = props;
  const columns = props.columns.filter((column) => column !== false);
  if (rows.length === 0 && empty) return empty;
  return (
    <Table.ScrollContainer
      minWidth={0}
      type="native"
      {...(maxHeight && { maxHeight })}
      {...(region && { role: "region", tabIndex: 0, "aria-label": region })}
    >
      <Table {...(className && { className })}>
        {caption && <Table.Caption className={classes.hidden}>{caption}</Table.Caption>}
        {columns.some(({ title }) => title) && (
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ title, label, ta, visibleFrom }, at) => (
                <Table.Th
                  key={title ?? at}
                  scope="col"
                  aria-label={label}
                  {...(ta && { ta })}
                  {...(visibleFrom && { visibleFrom })}
                >
                  {title}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
        )}
        <Table.Tbody>
          {rows.map((row, index) => (
            <Fragment key={String(row[id] ?? index)}>
              <Table.Tr {...(linked && { className: classes.row })} {...rowProps?.(row)}>
                {columns.map(({ title, label, show, ...cell }, at) => (
                  <Table.Td key={title ?? at} {...cell}>
                    {show(row, index)}
                  </Table.Td>
                ))}
              </Table.Tr>
              {details?.(row) && (
                <Table.Tr>
                  <Table.Td colSpan={columns.length} bg="var(--sunken)">
                    {details(row)}
                  </Table.Td>
                </Table.Tr>
              )}
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
