/** A file as a table: the header is its first row. */
export type Rows = readonly (readonly string[])[];

/**
 * Reads CSV as RFC 4180 has it, separated by comma, semicolon or tab, whichever its header has most of. Empty lines count,
 * but for those above the header: rows have the numbers by which the server's report names them.
 */
export function readCsv(text: string): Rows {
  const content = text.replace(/^\uFEFF?[\r\n]*/, "");
  const header = content.slice(0, /\r|\n|$/.exec(content)?.index);
  const count = (mark: string) => header.split(mark).length;
  const separator = [",", ";", "\t"].reduce((a, b) => (count(b) > count(a) ? b : a));
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

/** The cell that a report names: by the row's number in the file, from 1, and the column's name. */
export function cellAt(rows: Rows, row: number, column: string): string | undefined {
  const at = rows[0]?.findIndex(
    (name) => name.trim().toLowerCase() === column.trim().toLowerCase(),
  );
  return at === undefined || at < 0 ? undefined : rows[row - 1]?.[at];
}
