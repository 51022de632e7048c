import { MemberService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useMantineColorScheme } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Spotlight, spotlight } from "@mantine/spotlight";
import { IconMoon, IconPlus, IconSearch, IconSun } from "@tabler/icons-react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { useText } from "../i18n";
import { useCan } from "../shared/me";
import { Face } from "../shared/ui";
import { useNavItems } from "./nav";

export const openPalette = () => spotlight.open();

/** The command palette: pages, members and actions. */
export function Palette() {
  const t = useText();
  const can = useCan();
  const go = useNavigate();
  const places = useNavItems();
  const { setColorScheme } = useMantineColorScheme();
  const [query, setQuery] = useState("");
  const [settled] = useDebouncedValue(query.trim(), 150);
  const people = useQuery(
    MemberService.method.listMembers,
    { query: settled, pageSize: 8 },
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
                onClick: () => void go("/?new=1"),
              },
            ]
          : []),
        {
          id: "light",
          label: t.theme.light,
          leftSection: <IconSun size={19} stroke={1.5} />,
          onClick: () => setColorScheme("light"),
        },
        {
          id: "dark",
          label: t.theme.dark,
          leftSection: <IconMoon size={19} stroke={1.5} />,
          onClick: () => setColorScheme("dark"),
        },
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
        leftSection: <Face name={member.name} size={26} />,
        onClick: () => void go(`/members/${member.id}`),
      })),
    },
  ];
  return (
    <Spotlight
      actions={actions}
      query={query}
      onQueryChange={setQuery}
      shortcut={["mod + K", "/"]}
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
