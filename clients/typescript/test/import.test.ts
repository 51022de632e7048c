import { describe, expect, it } from "vitest";
import { as, protocols } from "./berth.js";

describe.each(protocols)("a stream over $name", (protocol) => {
  it("reports the progress of an import, then the result", async () => {
    const rows = Array.from({ length: 2500 }, (_, i) => `Member ${i},import-${i}@example.com`);
    rows[1999] = "Nobody,nowhere";
    const csv = new TextEncoder().encode(["name,email", ...rows].join("\n"));

    const events = [];
    for await (const { event } of as("owner", protocol).members.importMembers({
      csv,
      dryRun: true,
    })) {
      events.push(event);
    }

    expect(events).toMatchObject([
      { case: "progress", value: { rowsTotal: 2500, rowsRead: 1000, rowsOk: 1000, problems: [] } },
      {
        case: "progress",
        value: { rowsRead: 2000, rowsWrong: 1, problems: [{ row: 2001, column: "email" }] },
      },
      { case: "progress", value: { rowsRead: 2500, rowsWrong: 1, problems: [] } },
      { case: "report", value: { rowsTotal: 2500, rowsWrong: 1, imported: 0, batchId: "" } },
    ]);
  });
});
