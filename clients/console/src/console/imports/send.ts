import { MemberService, SessionService } from "@berthhq/client";
import { createClient } from "@connectrpc/connect";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type Rows, readCsv } from "./csv";

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

interface Chosen {
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly rows: Rows;
}

/** The chosen file, and how far its import is. A file of more than the given bytes is not sent. */
export function useImport(send: Send, most: number) {
  const [file, setFile] = useState<Chosen>();
  const [part, setPart] = useState(0);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const sending = useMutation({
    mutationFn: ({ content, dry }: Pick<Chosen, "content"> & { dry: boolean }) => {
      running.current?.abort();
      running.current = new AbortController();
      const { signal } = running.current;
      setPart(0);
      return send(content, dry, (part) => !signal.aborted && setPart(part), signal);
    },
  });
  const choose = async (picked: File | null | undefined) => {
    if (!picked) return;
    const content = new Uint8Array(await picked.arrayBuffer());
    setFile({ name: picked.name, content, rows: readCsv(new TextDecoder().decode(content)) });
    if (content.length > most) sending.reset();
    else sending.mutate({ content, dry: true });
  };
  return {
    file,
    sending,
    /** How much of it the server has read, up to 1. */
    part,
    tooLarge: file !== undefined && file.content.length > most,
    choose: (picked: File | null | undefined) => void choose(picked),
    /** Checks the file without importing it, or imports it. */
    run: (dry: boolean) => file && sending.mutate({ content: file.content, dry }),
  };
}

export type Import = ReturnType<typeof useImport>;
