/** A table. The first row is the header. */
export type Rows = readonly (readonly string[])[];

/**
 * Reads CSV as in RFC 4180, separated by comma, semicolon or tab: the one that occurs most often in
 * the header. Empty lines count as rows, except before the header, so that row numbers match those
 * in the server's report.
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

/**
 * The cell that a report refers to, by the row's number in the file, from 1, and the column's name.
 */
export function cellAt(rows: Rows, row: number, column: string): string | undefined {
  const at = rows[0]?.findIndex(
    (name) => name.trim().toLowerCase() === column.trim().toLowerCase(),
  );
  return at === undefined || at < 0 ? undefined : rows[row - 1]?.[at];
}
