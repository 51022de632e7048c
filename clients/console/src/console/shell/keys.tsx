import { Kbd } from "@mantine/core";
import { useText } from "../../shared/i18n";
import { DataTable } from "../../shared/ui/data-table";
import { scheduleTexts } from "../schedules/texts";
import { useNavItems } from "./nav";
import { shellTexts } from "./texts";

/** The keyboard shortcuts. */
export function Keys() {
  const t = useText(scheduleTexts, shellTexts);
  const places = useNavItems();
  const rows: [string[], string][] = [
    [["Ctrl", "K"], t.palette.open],
    ...places.map(({ key, name }): [string[], string] => [["G", key.toUpperCase()], name]),
    [["←", "→"], t.keys.turn],
    [["T"], t.schedule.today],
    [["N"], t.schedule.newSession],
    [["Alt", "↑ ↓ ← →"], t.keys.move],
    [["?"], t.keys.title],
  ];
  return (
    <DataTable
      rows={rows}
      columns={[
        { show: ([, what]) => what },
        {
          ta: "right",
          show: ([keys]) =>
            keys.map((key) => (
              <Kbd key={key} ml={4}>
                {key}
              </Kbd>
            )),
        },
      ]}
    />
  );
}
