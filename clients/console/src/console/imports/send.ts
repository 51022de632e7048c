import { MemberService, SessionService } from "@berthhq/client";
import { createClient } from "@connectrpc/connect";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";

export interface Problem {
  readonly row: number;
  /** Empty if the whole row is invalid. */
  readonly column: string;
  readonly message: string;
}

/** The result of an import, or of its dry run. */
export interface Report {
  /** Number of rows, without the header. */
  readonly rows: number;
  readonly wrong: number;
  readonly imported: number;
  readonly problems: readonly Problem[];
}

export type Send = (
  csv: Uint8Array<ArrayBuffer>,
  dryRun: boolean,
  progress: (part: number) => void,
  signal: AbortSignal,
) => Promise<Report>;

export function useImportSessions(): Send {
  const transport = useTransport();
  const queries = useQueryClient();
  return async (csv, dryRun, _, signal) => {
    const answer = await callUnaryMethod(
      transport,
      SessionService.method.importSessions,
      { csv, dryRun },
      { signal },
    );
    if (answer.imported > 0) void queries.invalidateQueries();
    return {
      rows: answer.rows.filter(({ row }) => row > 1).length,
      wrong: answer.problems,
      imported: answer.imported,
      problems: answer.rows.flatMap(({ row, problems }) =>
        problems.map(({ column, message }) => ({ row, column, message })),
      ),
    };
  };
}

/** Imports of members are streamed: the server reports progress. */
export function useImportMembers(): Send {
  const transport = useTransport();
  const queries = useQueryClient();
  return async (csv, dryRun, progress, signal) => {
    const client = createClient(MemberService, transport);
    const problems: Problem[] = [];
    for await (const { event } of client.importMembers({ csv, dryRun }, { signal })) {
      if (event.case === "progress") {
        const { rowsRead, rowsTotal } = event.value;
        progress(rowsTotal === 0 ? 0 : rowsRead / rowsTotal);
        problems.push(...event.value.problems);
      }
      if (event.case === "report") {
        if (event.value.imported > 0) void queries.invalidateQueries();
        return {
          rows: event.value.rowsTotal,
          wrong: event.value.rowsWrong,
          imported: event.value.imported,
          problems,
        };
      }
    }
    throw new TypeError("the report did not come");
  };
}
