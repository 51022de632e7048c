/** A table. The first row is the header. */
export type Rows = readonly (readonly string[])[];

const separators = [",", ";", "\t", "|"];

/** How many rows can be above the header. */
const titles = 20;

/** Reads the text of a file in UTF-8, UTF-16 or Windows-1252, as the server does. */
export function readText(content: Uint8Array<ArrayBuffer>): string {
  const [first, second] = content;
  const little = first === 0xff && second === 0xfe;
  const big = first === 0xfe && second === 0xff;
  if (little || (first && second === 0)) return new TextDecoder("utf-16le").decode(content);
  if (big || (first === 0 && second)) return new TextDecoder("utf-16be").decode(content);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    const text = new TextDecoder().decode(content);
    const wrong = text.split("\uFFFD").length - 1;
    const right = text.replace(/[\0-\x7F\uFFFD]/g, "").length;
    return right > wrong ? text : new TextDecoder("windows-1252").decode(content);
  }
}

/**
 * Reads CSV as in RFC 4180, separated by comma, semicolon, tab or bar: the one that a first line
 * names (sep=;), or else the one that occurs most often in a line at the begin. Empty lines count as
 * rows, so that row numbers match those in the server's report.
 */
export function readCsv(text: string): Rows {
  const named = /^\uFEFF?"?sep=([,;\t|])"?[,;\t|]*(?:\r\n?|\n|$)/i.exec(text);
  const content = named ? text.slice(named[0].length) : text.replace(/^\uFEFF/, "");
  const lines = content.split(/\r\n?|\n/, titles + 1);
  const most = (mark: string) => Math.max(...lines.map((line) => line.split(mark).length));
  const separator = named?.[1] ?? separators.reduce((a, b) => (most(b) > most(a) ? b : a));
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < content.length; at++) {
    const mark = content.charAt(at);
    if (quoted) {
      if (mark !== '"') cell += mark;
      else if (content.charAt(at + 1) === '"') {
        cell += '"';
        at++;
      } else quoted = false;
    } else if (mark === '"') quoted = true;
    else if (mark === separator) {
      row.push(cell);
      cell = "";
    } else if (mark === "\n" || mark === "\r") {
      if (mark === "\r" && content.charAt(at + 1) === "\n") at++;
      row.push(cell);
      rows.push(row);
      [row, cell] = [[], ""];
    } else cell += mark;
  }
  if (cell !== "" || row.length > 0) rows.push([...row, cell]);
  return rows;
}

const filled = (row: readonly string[]) => row.filter((cell) => cell.trim() !== "").length;

/** The number of the header's row, from 1: of the first rows the first with the most cells. */
export function headerRow(rows: Rows): number {
  const counts = rows.slice(0, titles + 1).map(filled);
  return Math.max(0, counts.indexOf(Math.max(...counts))) + 1;
}

/** Writes a table so that the server and readCsv read the same rows, with the same numbers. */
export function writeCsv(rows: Rows): Uint8Array<ArrayBuffer> {
  const line = (row: readonly string[]) =>
    row.every((cell) => cell === "")
      ? ",".repeat(Math.max(0, row.length - 1))
      : row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",");
  return new TextEncoder().encode(rows.map((row) => `${line(row)}\r\n`).join(""));
}

/** The table with other texts in some cells. */
export function withCells(rows: Rows, cells: readonly Cell[]): Rows {
  const copy = rows.map((row) => [...row]);
  for (const { row, at, text } of cells) {
    const line = copy[row - 1];
    while (line && line.length < at) line.push("");
    if (line) line[at] = text;
  }
  return copy;
}

/** A cell to be replaced: the number of its row, from 1, its position, from 0, and its text. */
export interface Cell {
  readonly row: number;
  readonly at: number;
  readonly text: string;
}
