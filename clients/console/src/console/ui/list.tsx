import { Button } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useText } from "../../shared/i18n";
import { Card, More, type Paged, type Query, QueryResult } from "../../shared/ui";
import { DataTable, type TableProps } from "../../shared/ui/data-table";

/** A card with a list from the server, as a table. */
export function List<T extends object>({
  query,
  title,
  extra,
  skeleton,
  children,
  ...table
}: Omit<TableProps<T>, "rows"> & {
  query: Query<readonly T[]> & Partial<Paged>;
  title?: ReactNode;
  extra?: ReactNode;
  /** The height of the skeleton, in lines of text. */
  skeleton?: number;
  /** Shown above the table. */
  children?: ReactNode;
}) {
  return (
    <>
      <Card bare title={title} extra={extra}>
        {children}
        <QueryResult query={query} rows={skeleton}>
          {(rows) => <DataTable rows={rows} {...table} />}
        </QueryResult>
      </Card>
      <More query={query} />
    </>
  );
}

interface MoreButtonProps {
  /** Names the row for screen readers. */
  of: string;
  /** Whether more is shown in the row. */
  open?: boolean;
  onClick: () => void;
}

/** Shows more about a row, in it or in a drawer. */
export function MoreButton({ of, open, onClick }: MoreButtonProps) {
  const t = useText();
  const Chevron = open ? IconChevronDown : IconChevronRight;
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      color="gray"
      aria-expanded={open}
      aria-label={`${t.actions.more}: ${of}`}
      onClick={onClick}
    >
      <Chevron size={16} />
    </Button>
  );
}
