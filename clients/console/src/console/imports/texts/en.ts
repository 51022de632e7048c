import { ImportStatus } from "@berthhq/client";
import { en as s } from "../../../shared/i18n/count";

/** Texts about imports. */
export const en = {
  imports: {
    note: "Import a spreadsheet. The file is checked first; then all of its rows are imported, or none.",
    drop: "Drop a CSV file here",
    dropNote: "Nothing changes until you confirm.",
    choose: "Choose a file",
    other: "Choose another file",
    size: (rows: number, kilobytes: number) => `${s(rows, "row")}, ${Math.ceil(kilobytes)} kB`,
    tooLarge: (megabytes: number) =>
      `The file is too large. Split it into files of up to ${Math.round(megabytes)} MB.`,
    trying: "Checking the file",
    importing: "Importing",
    notRead: "The file could not be read",
    unknown: "We don’t know whether the import succeeded",
    unknownNote:
      "The server’s response was lost. Check the file again: rows that already exist are reported as errors.",
    tryAgain: "Check the file again",
    empty: "The file has a header but no rows.",
    problems: (wrong: number, of: number) => `${wrong} of ${s(of, "row")} to fix`,
    nothingTaken: "Nothing was imported",
    recent: "Recent imports",
    started: "Started",
    state: "Status",
    states: (status: ImportStatus, dry: boolean) =>
      ({
        [ImportStatus.UNSPECIFIED]: "",
        [ImportStatus.PENDING]: "Waiting",
        [ImportStatus.RUNNING]: dry ? "Checking" : "Importing",
        [ImportStatus.SUCCEEDED]: dry ? "Checked" : "Imported",
        [ImportStatus.FAILED]: "Nothing imported",
      })[status],
    progress: "Progress",
    rowsDone: (done: number, of: number) => `${done} of ${s(of, "row")}`,
    showProblems: (n: number) => (n > 0 ? `Show ${s(n, "row")} to fix` : "Show why"),
    row: "Row",
    column: "Column",
    cell: "Value",
    wrong: "Problem",
    emptyCell: "empty",
    moreProblems: (n: number) => `and ${n} more`,
    sample: "First rows",
    nothingYet: "Nothing has been imported yet.",
    view: "View",
    columnsTitle: "Columns",
    example: "Example",
    required: "required",
    format:
      "CSV with a header row, also as older spreadsheets save it. Titles above the header are left " +
      "out. Columns can be in any order; upper and lower case do not matter.",
    sessions: {
      ready: (n: number) => `${s(n, "session")} ready to import`,
      run: (n: number) => `Import ${s(n, "session")}`,
      done: (n: number) => `${s(n, "session")} imported`,
    },
    members: {
      ready: (n: number) => `${s(n, "member")} ready to import`,
      run: (n: number) => `Import ${s(n, "member")}`,
      done: (n: number) => `${s(n, "member")} imported`,
    },
    columns: {
      sessions: {
        service: "Name of the service",
        location: "Name of the location; times are in its time zone",
        date: "2027-03-29",
        start: "18:00",
        duration_minutes: "60; or end",
        end: "19:00; or duration_minutes",
        resource: "Name of the resource at the location",
        coach_email: "Email of the coach",
        capacity: "Empty: the service’s",
        waitlist_capacity: "Empty: the service’s",
        title: "Empty: the service’s name",
        notes: "Shown to members",
        status: "draft or published",
      } as Record<string, string>,
      members: {
        name: "Full name",
        email: "Used to sign in; must be unique",
        phone: "With country code: +351912345678",
        subject: "User ID at your identity provider",
        tier: "Any word you like",
        tags: "Separated by semicolons",
        locale: "pt-PT",
        time_zone: "Europe/Lisbon",
        notes: "For staff only",
      } as Record<string, string>,
    },
  },
};
