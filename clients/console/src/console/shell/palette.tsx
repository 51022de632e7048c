import { MemberService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useMantineColorScheme } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Spotlight } from "@mantine/spotlight";
import { IconMoon, IconPlus, IconSearch, IconSun } from "@tabler/icons-react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { useCan } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { Avatar } from "../../shared/ui";
import { routes } from "../routes";
import { scheduleTexts } from "../schedules/texts";
import { filterActions } from "./filter-actions";
import { useNavItems } from "./nav";
import { paletteStore } from "./open-palette";
import { shellTexts } from "./texts";

/** The command palette: pages, members and actions. */
export function Palette(_: { opened: boolean }) {
  const t = useText(scheduleTexts, shellTexts);
  const can = useCan();
  const go = useNavigate();
  const places = useNavItems();
  const { setColorScheme } = useMantineColorScheme();
  const [query, setQuery] = useState("");
  const [settled] = useDebouncedValue(query.trim(), 150);
  const people = useQuery(
    MemberService.method.listMembers,
    { filter: { query: settled }, pageSize: 8 },
    { enabled: can("member.read") && settled.length > 1 },
  );
  const actions = [
    {
      group: t.palette.pages,
      actions: places.map(({ path, name, icon: Icon }) => ({
        id: path,
        label: name,
        leftSection: <Icon size={19} stroke={1.5} />,
        onClick: () => void go(path),
      })),
    },
    {
      group: t.palette.actions,
      actions: [
        ...(can("session.create")
          ? [
              {
                id: "new",
                label: t.schedule.newSession,
                leftSection: <IconPlus size={19} stroke={1.5} />,
                onClick: () => void go(routes.schedule.path({ new: "1" })),
              },
            ]
          : []),
        ...(
          [
            ["light", IconSun],
            ["dark", IconMoon],
          ] as const
        ).map(([scheme, Icon]) => ({
          id: scheme,
          label: t.theme[scheme],
          leftSection: <Icon size={19} stroke={1.5} />,
          onClick: () => setColorScheme(scheme),
        })),
      ],
    },
    {
      group: t.nav.members,
      actions: (settled.length > 1 ? (people.data?.members ?? []) : []).map((member) => ({
        id: member.id,
        label: member.name,
        description: member.email,
        // The server has already matched, by phone number for example.
        keywords: query,
        leftSection: <Avatar name={member.name} size={26} />,
        onClick: () => void go(routes.member.path({ id: member.id })),
      })),
    },
  ];
  return (
    <Spotlight
      store={paletteStore}
      actions={actions}
      filter={(text, groups) => filterActions(text, groups as typeof actions)}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      nothingFound={t.palette.nothing}
      scrollable
      maxHeight={420}
      highlightQuery
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: t.palette.hint,
        "aria-label": t.palette.open,
      }}
    />
  );
}
