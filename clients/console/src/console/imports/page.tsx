import { Tabs } from "@mantine/core";
import { useSearchParams } from "react-router";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCan } from "../../shared/root";
import { PageHead } from "../../shared/ui";
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
    "service,location,date,start,duration_minutes,capacity,title,status\nVinyasa,Harbour,2027-03-29,18:00,60,12,Evening flow,draft\n",
  members:
    "name,email,phone,tier,tags,notes\nAna Silva,ana@example.com,+351912345678,gold,early bird,\n",
};

/** Brings what stands in a spreadsheet into Berth. */
export function ImportsPage() {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const [params, setParams] = useSearchParams();
  const sessions = useImportSessions();
  const members = useImportMembers();
  const tabs = [
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
  ].filter((tab) => tab !== false);
  const tab = tabs.find(({ key }) => key === params.get("what")) ?? tabs[0];
  return (
    <div className="page">
      <PageHead title={t.nav.imports} note={d.imports.note} />
      <Tabs
        value={tab?.key ?? null}
        onChange={(value) => setParams(value ? { what: value } : {}, { replace: true })}
      >
        <Tabs.List mb="md">
          {tabs.map(({ key, label }) => (
            <Tabs.Tab key={key} value={key}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ key, send, required, size, to }) => (
          <Tabs.Panel key={key} value={key}>
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
          </Tabs.Panel>
        ))}
      </Tabs>
    </div>
  );
}
