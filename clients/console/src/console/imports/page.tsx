import "./imports.css";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCan } from "../../shared/me";
import { PageHead } from "../../shared/ui";
import { Tabbed } from "../tabbed";
import { Importer } from "./importer";
import { useImportMembers, useImportSessions } from "./send";

const columns = {
  sessions: [
    "service",
    "location",
    "date",
    "start",
    "duration_minutes",
    "end",
    "resource",
    "coach_email",
    "capacity",
    "waitlist_capacity",
    "title",
    "notes",
    "status",
  ],
  members: ["name", "email", "phone", "subject", "tier", "tags", "locale", "time_zone", "notes"],
} as const;

const examples = {
  sessions:
    "service,location,date,start,duration_minutes,capacity,title,status\n" +
    "Vinyasa,Harbour,2027-03-29,18:00,60,12,Evening flow,draft\n",
  members:
    "name,email,phone,tier,tags,notes\nAna Silva,ana@example.com,+351912345678,gold,early bird,\n",
};

/** Imports sessions or members from a spreadsheet. */
export function ImportsPage() {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const sessions = useImportSessions();
  const members = useImportMembers();
  const parts = [
    can("session.import") && {
      key: "sessions" as const,
      label: t.nav.schedule,
      send: sessions,
      required: 4,
      size: 1_048_576,
      to: "/",
    },
    can("member.import") && {
      key: "members" as const,
      label: t.nav.members,
      send: members,
      required: 1,
      size: 3_000_000,
      to: "/members",
    },
  ].filter((part) => part !== false);
  return (
    <div className="page">
      <PageHead title={t.nav.imports} note={d.imports.note} />
      <Tabbed
        name="what"
        keep
        parts={parts.map(({ key, label, send, required, size, to }) => ({
          key,
          label,
          shown: (
            <Importer
              send={send}
              columns={columns[key].map((name, at) => ({
                name,
                note: d.imports.columns[key][name] ?? "",
                required: at < required,
              }))}
              example={{ name: `${key}.csv`, text: examples[key] }}
              most={size}
              words={d.imports[key]}
              to={to}
            />
          ),
        }))}
      />
    </div>
  );
}
