import { Kbd, NavLink, Text } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { Link, useLocation } from "react-router";
import { useMe } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { BerthIcon } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { routes } from "../routes";
import { AccountButton } from "./account-button";
import { type NavItem, useNavItems } from "./nav";
import { openPalette } from "./open-palette";
import classes from "./sidebar.module.css";
import { shellTexts } from "./texts";

const AccountMenu = later(() => import("./account-menu"), "AccountMenu", {
  fallback: ({ onChange }) => <AccountButton onClick={() => onChange(true)} />,
});

const SetupLink = later(() => import("../setup/link"), "SetupLink", { fallback: null });

/** The navigation. */
export function Sidebar() {
  const t = useText(shellTexts);
  const { tenant, can } = useMe();
  const places = useNavItems();
  const { pathname } = useLocation();
  const [account, setAccount] = useState(false);
  const at = (path: string) =>
    path === routes.schedule.pattern
      ? pathname === path || pathname.startsWith("/sessions")
      : pathname.startsWith(path);
  const group = (which: NavItem["group"]) =>
    places
      .filter((place) => place.group === which)
      .map(({ path, name, icon: Icon }) => (
        <NavLink
          key={path}
          className={classes.link}
          component={Link}
          to={path}
          label={name}
          active={at(path)}
          aria-current={at(path) ? "page" : undefined}
          leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
        />
      ));
  const settings = group("set");
  return (
    <div className={classes.side}>
      <div className={classes.tenant}>
        <BerthIcon size={26} />
        <Text span inherit truncate title={tenant.name}>
          {tenant.name}
        </Text>
      </div>
      <button type="button" className={classes.find} onClick={openPalette}>
        <IconSearch size={15} aria-hidden />
        <span>{t.palette.open}</span>
        <Kbd size="xs">Ctrl K</Kbd>
      </button>
      <nav className={classes.nav} aria-label={t.nav.main}>
        {can("tenant.update") && <SetupLink className={classes.link} />}
        {group("run")}
        {settings.length > 0 && <div className={classes.label}>{t.nav.settings}</div>}
        {settings}
      </nav>
      <AccountMenu opened={account} onChange={setAccount} />
    </div>
  );
}
