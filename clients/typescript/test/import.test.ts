import { describe, expect, it } from "vitest";
import { ErrorReason, ImportKind, ImportStatus } from "../src/index.js";
import { as, protocols } from "./berth.js";

describe.each(protocols)("an import over $name", (protocol) => {
  it("is answered at once, and read until it has ended", async () => {
    const rows = Array.from({ length: 2500 }, (_, i) => `Member ${i},import-${i}@example.com`);
    rows[1999] = "Nobody,nowhere";
    const csv = new TextEncoder().encode(["name,email", ...rows].join("\n"));
    const { members, imports } = as("owner", protocol);

    let { fileImport } = await members.importMembers({ csv, dryRun: true });
    expect(fileImport).toMatchObject({ kind: ImportKind.MEMBERS, rowsTotal: 2500, dryRun: true });
    const importId = fileImport?.id ?? "";
    await expect
      .poll(
        async () => {
          ({ fileImport } = await imports.getImport({ importId }));
          return fileImport?.endTime;
        },
        { timeout: 20_000 },
      )
      .toBeDefined();

    expect(fileImport).toMatchObject({
      status: ImportStatus.FAILED,
      rowsDone: 2500,
      rowsInvalid: 1,
      createdCount: 0,
      problems: [{ row: 2001, column: "email", reason: ErrorReason.INVALID_FIELD }],
    });
  });
});
