import {
  BookingService,
  CreditService,
  type Import as FileImport,
  ImportKind,
  ImportService,
  ImportStatus,
  MemberService,
  SessionService,
} from "@berthhq/client";
import type { CallOptions, Transport } from "@connectrpc/connect";
import { callUnaryMethod, useQuery, useTransport } from "@connectrpc/connect-query";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type Cell, type Rows, readCsv, readText, withCells, writeCsv } from "./csv";

/** What was found about a row. */
export interface Finding {
  readonly row: number;
  /** Empty if it is about the whole row. */
  readonly column: string;
  readonly message: string;
}

/** A column of the file, and the field that it becomes: empty if it is left out. */
export interface Column {
  readonly name: string;
  readonly field: string;
}

/** The result of an import, or of its dry run. */
export interface Report {
  readonly id: string;
  /** Whether nothing was or can be imported. */
  readonly failed: boolean;
  /** Number of rows, without the header. */
  readonly rows: number;
  readonly wrong: number;
  readonly imported: number;
  readonly problems: readonly Finding[];
  /** What became of rows otherwise than their cells say, though nothing is wrong with them. */
  readonly notes: readonly Finding[];
  readonly columns: readonly Column[];
  /** What the rows add up to in the file, and in the ledger, if they add up to anything. */
  readonly total?: { readonly file: number; readonly ledger: number };
}

/** What is imported: a file, and what becomes of columns whose names do not say it. */
interface Request {
  readonly csv: Uint8Array<ArrayBuffer>;
  readonly columns: readonly Column[];
  readonly dryRun: boolean;
}

export type Send = (
  request: Request,
  progress: (part: number) => void,
  signal: AbortSignal,
) => Promise<Report>;

/** How often the progress of an import is read, in milliseconds. */
export const interval = 500;

const running = (status: ImportStatus | undefined) =>
  status === ImportStatus.PENDING || status === ImportStatus.RUNNING;

/** What the rows of a file become. */
export type Kind = "sessions" | "members" | "plans" | "bookings";

interface FileRequest {
  readonly csv: Uint8Array<ArrayBuffer>;
  readonly columns: Column[];
  readonly dryRun: boolean;
  readonly leaveOutInvalid: boolean;
}

/** What imports a file of each kind. */
const kinds = {
  sessions: {
    kind: ImportKind.SESSIONS,
    start: (to: Transport, request: FileRequest, options: CallOptions) =>
      callUnaryMethod(to, SessionService.method.importSessions, request, options),
  },
  members: {
    kind: ImportKind.MEMBERS,
    start: (to: Transport, request: FileRequest, options: CallOptions) =>
      callUnaryMethod(to, MemberService.method.importMembers, request, options),
  },
  plans: {
    kind: ImportKind.SUBSCRIPTIONS,
    start: (to: Transport, request: FileRequest, options: CallOptions) =>
      callUnaryMethod(to, CreditService.method.importSubscriptions, request, options),
  },
  bookings: {
    kind: ImportKind.BOOKINGS,
    start: (to: Transport, request: FileRequest, options: CallOptions) =>
      callUnaryMethod(to, BookingService.method.importBookings, request, options),
  },
};

/** An import goes on in the background: the server answers at once, and is asked for the progress. */
export function useSend(kind: Kind): Send {
  const transport = useTransport();
  const queries = useQueryClient();
  return async ({ columns, ...file }, progress, signal) => {
    const request = {
      ...file,
      // Rows with problems can be mended or left out: the others are imported.
      leaveOutInvalid: true,
      columns: columns.map(({ name, field }) => ({ name, field })),
    };
    const { fileImport } = await kinds[kind].start(transport, request, { signal });
    const importId = fileImport?.id ?? "";
    let found = fileImport;
    while (running(found?.status)) {
      await new Promise((resolve) => setTimeout(resolve, interval));
      const answer = await callUnaryMethod(
        transport,
        ImportService.method.getImport,
        { importId },
        { signal },
      );
      found = answer.fileImport;
      progress(found?.rowsTotal ? found.rowsDone / found.rowsTotal : 0);
    }
    void queries.invalidateQueries();
    return reportOf(found);
  };
}

/** What an import says at its end. */
export function reportOf(found: FileImport | undefined): Report {
  const failed = found?.status === ImportStatus.FAILED;
  return {
    id: found?.id ?? "",
    failed,
    rows: found?.rowsTotal ?? 0,
    wrong: Math.max(failed ? 1 : 0, found?.rowsInvalid ?? 0),
    imported: found?.createdCount ?? 0,
    problems: found?.problems ?? [],
    notes: found?.notes ?? [],
    columns: found?.columns ?? [],
    ...(found?.total && { total: found.total }),
  };
}

/** Saves the rows that an import left out as a file. Says whether the server still had them. */
export function useSaveLeftOut(): (importId: string) => Promise<boolean> {
  const transport = useTransport();
  return async (importId) => {
    const { fileImport } = await callUnaryMethod(transport, ImportService.method.getImport, {
      importId,
      withLeftOutCsv: true,
    });
    const rows = fileImport?.leftOutCsv;
    if (!rows?.length) return false;
    const address = URL.createObjectURL(new Blob([new Uint8Array(rows)], { type: "text/csv" }));
    Object.assign(document.createElement("a"), { href: address, download: "left-out.csv" }).click();
    URL.revokeObjectURL(address);
    return true;
  };
}

/** The newest imports of a kind. They are read again while one of them goes on. */
export function useRecentImports(kind: Kind) {
  return useQuery(
    ImportService.method.listImports,
    { filter: { kinds: [kinds[kind].kind] }, pageSize: 10 },
    {
      refetchInterval: ({ state }) =>
        state.data?.imports.some(({ status }) => running(status) || status === ImportStatus.UNDOING)
          ? interval
          : false,
    },
  );
}

interface Chosen {
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly rows: Rows;
}

/** The chosen file, and how far its import is. A file of more than the given bytes is not sent. */
export function useImport(send: Send, most: number) {
  const [file, setFile] = useState<Chosen>();
  const [columns, setColumns] = useState<readonly Column[]>([]);
  const [part, setPart] = useState(0);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const sending = useMutation({
    mutationFn: (request: Request) => {
      running.current?.abort();
      running.current = new AbortController();
      const { signal } = running.current;
      setPart(0);
      return send(request, (part) => !signal.aborted && setPart(part), signal);
    },
    onSuccess: (report) => setColumns(report.columns),
  });
  const choose = async (picked: File | null | undefined) => {
    if (!picked) return;
    const content = new Uint8Array(await picked.arrayBuffer());
    setFile({ name: picked.name, content, rows: readCsv(readText(content)) });
    setColumns([]);
    if (content.length > most) sending.reset();
    else sending.mutate({ csv: content, columns: [], dryRun: true });
  };
  return {
    file,
    sending,
    /** How much of it the server has read, up to 1. */
    part,
    tooLarge: file !== undefined && file.content.length > most,
    choose: (picked: File | null | undefined) => void choose(picked),
    /** What becomes of the columns of the file. */
    columns,
    /** Checks the file again, with other fields for its columns. */
    map: (columns: readonly Column[]) => {
      setColumns(columns);
      if (file) sending.mutate({ csv: file.content, columns, dryRun: true });
    },
    /** Checks the file again, with other texts in some cells. */
    mend: (cells: readonly Cell[]) => {
      if (!file) return;
      const rows = withCells(file.rows, cells);
      const content = writeCsv(rows);
      setFile({ ...file, rows, content });
      sending.mutate({ csv: content, columns, dryRun: true });
    },
    /** Checks the file without importing it, or imports it. */
    run: (dryRun: boolean) => file && sending.mutate({ csv: file.content, columns, dryRun }),
  };
}

export type Import = ReturnType<typeof useImport>;
