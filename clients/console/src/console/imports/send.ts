import { MemberService, SessionService } from "@berthhq/client";
import { createClient } from "@connectrpc/connect";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
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

type Step =
  | { readonly kind: "none" }
  | { readonly kind: "reading"; readonly part: number; readonly dry: boolean }
  | { readonly kind: "read"; readonly report: Report }
  | { readonly kind: "done"; readonly report: Report }
  | { readonly kind: "failed"; readonly error: unknown; readonly dry: boolean };

/** The chosen file, and how far its import is. A file of more than the given bytes is not sent. */
export function useImport(send: Send, most: number) {
  const [file, setFile] = useState<Chosen>();
  const [step, setStep] = useState<Step>({ kind: "none" });
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
    if (content.length > most) setStep({ kind: "none" });
    else await run(content, true);
  };
  return {
    file,
    step,
    tooLarge: file !== undefined && file.content.length > most,
    choose: (picked: File | null | undefined) => void choose(picked),
    /** Checks the file without importing it, or imports it. */
    run: (dry: boolean) => void (file && run(file.content, dry)),
  };
}

export type Import = ReturnType<typeof useImport>;
