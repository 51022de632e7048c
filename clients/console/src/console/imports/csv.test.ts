import { describe, expect, it } from "vitest";
import { cellAt, readCsv } from "./csv";

describe("a CSV file", () => {
  it.each([
    ["commas", "a,b\n1,2\n"],
    ["semicolons", "a;b\n1;2\n"],
    ["tabs", "a\tb\r\n1\t2\r\n"],
    ["a byte order mark", "\uFEFFa,b\n1,2"],
    ["empty lines above", "\n\r\na,b\n1,2"],
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

  it("counts empty lines, as spreadsheets do", () => {
    const rows = readCsv("name,email\nAna,a@b.c\n\nBen,nowhere\n");
    expect(cellAt(rows, 4, "Email")).toBe("nowhere");
    expect(cellAt(rows, 4, "phone")).toBeUndefined();
    expect(cellAt(rows, 9, "email")).toBeUndefined();
  });
});
