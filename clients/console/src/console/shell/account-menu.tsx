import { Menu, useMantineColorScheme } from "@mantine/core";
import {
  IconDeviceMobile,
  IconId,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconSun,
  IconSunMoon,
} from "@tabler/icons-react";
import { Link } from "react-router";
import { useAuth, useMe } from "../../shared/auth/user";
import { type Language, languages, useI18n } from "../../shared/i18n";
import { routes } from "../routes";
import { AccountButton } from "./account-button";

interface Props {
  readonly opened: boolean;
  readonly onChange: (opened: boolean) => void;
}

/** The user, with the choice of colors and language. */
export function AccountMenu({ opened, onChange }: Props) {
  const { t, language, setLanguage } = useI18n();
  const { member } = useMe();
  const auth = useAuth();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemes = [
    ["light", t.theme.light, IconSun],
    ["dark", t.theme.dark, IconMoon],
    ["auto", t.theme.auto, IconSunMoon],
  ] as const;
  return (
    <Menu opened={opened} onChange={onChange} position="top-start" width={212}>
      <Menu.Target>
        <AccountButton />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.theme.title}</Menu.Label>
        {schemes.map(([scheme, name, Icon]) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon size={16} />}
            fw={colorScheme === scheme ? 600 : 400}
            aria-current={colorScheme === scheme}
            onClick={() => setColorScheme(scheme)}
          >
            {name}
          </Menu.Item>
        ))}
        <Menu.Label>{t.theme.language}</Menu.Label>
        {Object.entries(languages).map(([tag, name]) => (
          <Menu.Item
            key={tag}
            lang={tag}
            leftSection={<IconLanguage size={16} />}
            fw={language === tag ? 600 : 400}
            aria-current={language === tag}
            onClick={() => setLanguage(tag as Language)}
          >
            {name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          component={Link}
          to={routes.member.path({ id: member.id })}
          leftSection={<IconId size={16} />}
        >
          {t.nav.me}
        </Menu.Item>
        <Menu.Item component="a" href="/app/" leftSection={<IconDeviceMobile size={16} />}>
          {t.nav.memberApp}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void auth.signOut()}>
          {t.signIn.out}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
