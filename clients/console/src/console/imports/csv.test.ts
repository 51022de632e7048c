import { describe, expect, it } from "vitest";
import { headerRow, readCsv, readText, withCells, writeCsv } from "./csv";

describe("a CSV file", () => {
  it.each([
    ["commas", "a,b\n1,2\n"],
    ["semicolons", "a;b\n1;2\n"],
    ["tabs", "a\tb\r\n1\t2\r\n"],
    ["a byte order mark", "\uFEFFa,b\n1,2"],
    ["bars", "a|b\n1|2"],
    ["a line that names the separator", "\uFEFFsep=|\r\na|b\r\n1|2"],
  ])("is read with %s", (_, text) => {
    expect(readCsv(text)).toEqual([
      ["a", "b"],
      ["1", "2"],
    ]);
  });

  it("keeps quoted text together", () => {
    expect(readCsv('a,b\n"one, two","say ""hi""\nthere"\n')).toEqual([
      ["a", "b"],
      ["one, two", 'say "hi"\nthere'],
    ]);
  });

  it.each([
    ["UTF-8", [0xef, 0xbb, 0xbf, 0x5a, 0xc3, 0xab]],
    ["Windows-1252", [0x5a, 0xeb]],
    ["UTF-16, little end first", [0xff, 0xfe, 0x5a, 0, 0xeb, 0]],
    ["UTF-16, big end first", [0xfe, 0xff, 0, 0x5a, 0, 0xeb]],
    ["UTF-16 without mark", [0x5a, 0, 0xeb, 0]],
  ])("is read in %s", (_, bytes) => {
    expect(readText(new Uint8Array(bytes))).toBe("Zë");
  });

  it("has its header below titles", () => {
    const rows = readCsv("Members, all\n\nname;email;notes\nAna;a@b.c;\n");
    expect(headerRow(rows)).toBe(3);
    expect(headerRow([])).toBe(1);
  });

  it("counts empty lines, as spreadsheets do", () => {
    const rows = readCsv("name,email\nAna,a@b.c\n\nBen,nowhere\n");
    expect(rows[3]).toEqual(["Ben", "nowhere"]);
  });
});

it("writes what it reads, with the same rows and other cells", () => {
  const rows = readCsv('Pets\n\nname;"a ""b"""\n"x;\ny",=1\n;\nRex\n');
  expect(readCsv(readText(writeCsv(rows)))).toEqual(rows);
  const mended = withCells(rows, [
    { row: 6, at: 1, text: "4" },
    { row: 9, at: 0, text: "none" },
  ]);
  expect(mended[5]).toEqual(["Rex", "4"]);
  expect(mended).toHaveLength(rows.length);
  expect(rows[5]).toEqual(["Rex"]);
});
