import {
  ActionIcon,
  Burger,
  Button,
  Drawer,
  Kbd,
  Menu,
  Modal,
  NavLink,
  useMantineColorScheme,
} from "@mantine/core";
import { DatesProvider } from "@mantine/dates";
import { useDisclosure, useHotkeys, useMediaQuery } from "@mantine/hooks";
import {
  IconAdjustmentsHorizontal,
  IconBarbell,
  IconCalendarWeek,
  IconChartBar,
  IconChevronDown,
  IconClockHour4,
  IconDeviceMobile,
  IconFileImport,
  IconFlag3,
  IconHistory,
  IconId,
  IconKey,
  IconLanguage,
  IconLogout,
  IconMessage2,
  IconMoon,
  IconSearch,
  IconShieldLock,
  IconStack2,
  IconSun,
  IconSunMoon,
  IconTicket,
  IconUsers,
} from "@tabler/icons-react";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { Link, Route, Routes, useLocation, useNavigate } from "react-router";
import { type Language, languages, useSpeech, useText } from "../i18n";
import { useAuth, useCan, useMe } from "../shared/root";
import { Face, Guarded, Mark, NoPermission, State } from "../shared/ui";
import { useCatalog } from "./data";
import { openPalette, Palette } from "./palette";
import { SchedulePage } from "./schedule/page";

const page = <K extends string>(load: () => Promise<Record<K, () => ReactNode>>, name: K) =>
  lazy(async () => ({ default: (await load())[name] }));

const SessionPage = page(() => import("./session/page"), "SessionPage");
const TeeSheetPage = page(() => import("./pages/teesheet"), "TeeSheetPage");
const MembersPage = page(() => import("./pages/members"), "MembersPage");
const MemberPage = page(() => import("./member/page"), "MemberPage");
const CatalogPage = page(() => import("./catalog/page"), "CatalogPage");
const WorkoutsPage = page(() => import("./workouts/page"), "WorkoutsPage");
const ImportsPage = page(() => import("./imports/page"), "ImportsPage");
const PlansPage = page(() => import("./pages/plans"), "PlansPage");
const AnalyticsPage = page(() => import("./pages/analytics"), "AnalyticsPage");
const PoliciesPage = page(() => import("./pages/policies"), "PoliciesPage");
const RulesPage = page(() => import("./pages/rules"), "RulesPage");
const MessagesPage = page(() => import("./pages/messages"), "MessagesPage");
const RolesPage = page(() => import("./pages/roles"), "RolesPage");
const AccountsPage = page(() => import("./pages/accounts"), "AccountsPage");
const AuditPage = page(() => import("./pages/audit"), "AuditPage");

export interface Place {
  readonly path: string;
  readonly name: string;
  readonly permission: string;
  readonly icon: typeof IconUsers;
  /** Pressed after "g". */
  readonly key: string;
  readonly group: "run" | "set";
}

/** Where this person may go. */
export function usePlaces(): Place[] {
  const t = useText();
  const can = useCan();
  const { data } = useCatalog();
  const tees = data?.resources.some(({ kind, active }) => active && kind.toLowerCase() === "tee");
  const all: (Place | false | undefined)[] = [
    {
      path: "/",
      name: t.nav.schedule,
      permission: "session.read",
      icon: IconCalendarWeek,
      key: "s",
      group: "run",
    },
    tees && {
      path: "/tee-sheet",
      name: t.nav.teeSheet,
      permission: "booking.roster",
      icon: IconFlag3,
      key: "t",
      group: "run",
    },
    {
      path: "/members",
      name: t.nav.members,
      permission: "member.read",
      icon: IconUsers,
      key: "m",
      group: "run",
    },
    {
      path: "/analytics",
      name: t.nav.analytics,
      permission: "analytics.read",
      icon: IconChartBar,
      key: "a",
      group: "run",
    },
    {
      path: "/catalog",
      name: t.nav.catalog,
      permission: "catalog.read",
      icon: IconStack2,
      key: "c",
      group: "set",
    },
    {
      path: "/workouts",
      name: t.nav.workouts,
      permission: "workout.read",
      icon: IconBarbell,
      key: "x",
      group: "set",
    },
    {
      path: "/plans",
      name: t.nav.plans,
      permission: "plan.read",
      icon: IconTicket,
      key: "p",
      group: "set",
    },
    {
      path: "/policies",
      name: t.nav.policies,
      permission: "policy.read",
      icon: IconAdjustmentsHorizontal,
      key: "o",
      group: "set",
    },
    {
      path: "/waitlist",
      name: t.nav.waitlist,
      permission: "waitlist.rules",
      icon: IconClockHour4,
      key: "w",
      group: "set",
    },
    {
      path: "/messages",
      name: t.nav.messages,
      permission: "notification.read",
      icon: IconMessage2,
      key: "e",
      group: "set",
    },
    {
      path: "/imports",
      name: t.nav.imports,
      permission: can("session.import") ? "session.import" : "member.import",
      icon: IconFileImport,
      key: "i",
      group: "set",
    },
    {
      path: "/roles",
      name: t.nav.roles,
      permission: "role.read",
      icon: IconShieldLock,
      key: "r",
      group: "set",
    },
    {
      path: "/service-accounts",
      name: t.nav.accounts,
      permission: "account.manage",
      icon: IconKey,
      key: "k",
      group: "set",
    },
    {
      path: "/audit",
      name: t.nav.audit,
      permission: "audit.read",
      icon: IconHistory,
      key: "l",
      group: "set",
    },
  ];
  return all.filter((place): place is Place => Boolean(place) && can((place as Place).permission));
}

function Needs({ permission, children }: { permission: string; children: ReactNode }) {
  const can = useCan();
  return can(permission) ? children : <NoPermission permission={permission} />;
}

export function Shell() {
  const can = useCan();
  return can("booking.roster") || can("member.read") ? <Console /> : <StaffOnly />;
}

/** A member who came here by mistake. */
function StaffOnly() {
  const t = useText();
  const auth = useAuth();
  return (
    <main style={{ minHeight: "100dvh", display: "grid", placeContent: "center" }}>
      <State
        icon={<Mark size={40} />}
        title={t.states.staffOnly}
        action={
          <>
            <Button component="a" href="/app/">
              {t.nav.memberApp}
            </Button>
            <Button variant="default" onClick={() => void auth.signOut()}>
              {t.signIn.other}
            </Button>
          </>
        }
      >
        {t.states.staffOnlyNote}
      </State>
    </main>
  );
}

function Console() {
  const t = useText();
  const can = useCan();
  const { language } = useSpeech();
  const [drawer, { open, close }] = useDisclosure();
  const [help, { toggle: toggleHelp, close: closeHelp }] = useDisclosure();
  const narrow = useMediaQuery("(max-width: 60em)", undefined, { getInitialValueInEffect: false });
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  useGoKeys();
  useHotkeys([["shift+?", toggleHelp]]);
  useEffect(() => {
    close();
    main.current?.scrollTo(0, 0);
  }, [close]);
  useEffect(() => {
    // Mantine's calendars speak through dayjs.
    if (language === "de") void import("dayjs/locale/de");
    if (language === "fr") void import("dayjs/locale/fr");
  }, [language]);
  return (
    <DatesProvider settings={{ locale: language, firstDayOfWeek: 1 }}>
      <a className="skip" href="#main">
        {t.nav.skip}
      </a>
      <div className="shell">
        {narrow ? (
          <>
            <header className="topbar">
              <Burger opened={drawer} onClick={open} size="sm" aria-label={t.nav.menu} />
              <Link to="/" className="wordmark">
                <Mark /> Berth
              </Link>
              <ActionIcon size="lg" aria-label={t.palette.open} onClick={openPalette}>
                <IconSearch size={18} />
              </ActionIcon>
            </header>
            <Drawer opened={drawer} onClose={close} position="left" size={280} title={t.nav.menu}>
              <Side />
            </Drawer>
          </>
        ) : (
          <aside className="side">
            <Side />
          </aside>
        )}
        <main id="main" ref={main} tabIndex={-1}>
          <Guarded key={pathname}>
            <Suspense fallback={null}>
              <Routes>
                <Route
                  path="/"
                  element={
                    <Needs permission="session.read">
                      <SchedulePage />
                    </Needs>
                  }
                />
                <Route
                  path="/sessions/:id"
                  element={
                    <Needs permission="booking.roster">
                      <SessionPage />
                    </Needs>
                  }
                />
                <Route
                  path="/tee-sheet"
                  element={
                    <Needs permission="booking.roster">
                      <TeeSheetPage />
                    </Needs>
                  }
                />
                <Route
                  path="/members"
                  element={
                    <Needs permission="member.read">
                      <MembersPage />
                    </Needs>
                  }
                />
                <Route
                  path="/members/:id"
                  element={
                    <Needs permission="member.read">
                      <MemberPage />
                    </Needs>
                  }
                />
                <Route
                  path="/plans"
                  element={
                    <Needs permission="plan.read">
                      <PlansPage />
                    </Needs>
                  }
                />
                <Route
                  path="/catalog"
                  element={
                    <Needs permission="catalog.read">
                      <CatalogPage />
                    </Needs>
                  }
                />
                <Route
                  path="/workouts"
                  element={
                    <Needs permission="workout.read">
                      <WorkoutsPage />
                    </Needs>
                  }
                />
                <Route
                  path="/imports"
                  element={
                    <Needs permission={can("session.import") ? "session.import" : "member.import"}>
                      <ImportsPage />
                    </Needs>
                  }
                />
                <Route
                  path="/analytics"
                  element={
                    <Needs permission="analytics.read">
                      <AnalyticsPage />
                    </Needs>
                  }
                />
                <Route
                  path="/policies"
                  element={
                    <Needs permission="policy.read">
                      <PoliciesPage />
                    </Needs>
                  }
                />
                <Route
                  path="/waitlist"
                  element={
                    <Needs permission="waitlist.rules">
                      <RulesPage />
                    </Needs>
                  }
                />
                <Route
                  path="/messages"
                  element={
                    <Needs permission="notification.read">
                      <MessagesPage />
                    </Needs>
                  }
                />
                <Route
                  path="/roles"
                  element={
                    <Needs permission="role.read">
                      <RolesPage />
                    </Needs>
                  }
                />
                <Route
                  path="/service-accounts"
                  element={
                    <Needs permission="account.manage">
                      <AccountsPage />
                    </Needs>
                  }
                />
                <Route
                  path="/audit"
                  element={
                    <Needs permission="audit.read">
                      <AuditPage />
                    </Needs>
                  }
                />
                <Route
                  path="*"
                  element={<State title={t.states.noPage}>{t.states.noPageNote}</State>}
                />
              </Routes>
            </Suspense>
          </Guarded>
        </main>
      </div>
      <Palette />
      <Modal opened={help} onClose={closeHelp} title={t.keys.title}>
        <Keys />
      </Modal>
    </DatesProvider>
  );
}

/** "g" and a letter goes somewhere. */
function useGoKeys() {
  const places = usePlaces();
  const go = useNavigate();
  const armed = useRef(0);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.isContentEditable) return;
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      if (event.key === "g") {
        armed.current = event.timeStamp;
        return;
      }
      if (event.timeStamp - armed.current < 1200) {
        const place = places.find(({ key }) => key === event.key);
        if (place) void go(place.path);
      }
      armed.current = Number.NEGATIVE_INFINITY;
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [places, go]);
}

function Keys() {
  const t = useText();
  const places = usePlaces();
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
    <table className="table">
      <tbody>
        {rows.map(([keys, what]) => (
          <tr key={what}>
            <td>{what}</td>
            <td className="right">
              {keys.map((key) => (
                <Kbd key={key} ml={4}>
                  {key}
                </Kbd>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Side() {
  const t = useText();
  const { tenant } = useMe();
  const places = usePlaces();
  const { pathname } = useLocation();
  const at = (path: string) =>
    path === "/" ? pathname === "/" || pathname.startsWith("/sessions") : pathname.startsWith(path);
  const group = (which: Place["group"]) =>
    places
      .filter((place) => place.group === which)
      .map(({ path, name, icon: Icon }) => (
        <NavLink
          key={path}
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
    <div className="side-in">
      <div className="tenant-name">
        <Mark size={26} />
        <span className="ellipsis" title={tenant.name}>
          {tenant.name}
        </span>
      </div>
      <button type="button" className="find" onClick={openPalette}>
        <IconSearch size={15} aria-hidden />
        <span>{t.palette.open}</span>
        <Kbd size="xs">Ctrl K</Kbd>
      </button>
      <nav aria-label={t.nav.main}>
        {group("run")}
        {settings.length > 0 && <div className="side-label">{t.nav.settings}</div>}
        {settings}
      </nav>
      <Account />
    </div>
  );
}

function Account() {
  const t = useText();
  const { language, speak } = useSpeech();
  const { member } = useMe();
  const auth = useAuth();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const roles = t.roleNames as Record<string, string>;
  const [opened, setOpened] = useState(false);
  const schemes = [
    ["light", t.theme.light, IconSun],
    ["dark", t.theme.dark, IconMoon],
    ["auto", t.theme.auto, IconSunMoon],
  ] as const;
  return (
    <Menu opened={opened} onChange={setOpened} position="top-start" width={212}>
      <Menu.Target>
        <button type="button" className="account">
          <Face name={member.name} size={30} />
          <span style={{ minWidth: 0, textAlign: "left" }}>
            <span className="ellipsis" style={{ display: "block", fontWeight: 560 }}>
              {member.name}
            </span>
            <span
              className="ellipsis"
              style={{ display: "block", fontSize: 12, color: "var(--ink-3)" }}
            >
              {member.roles.map((role) => roles[role] ?? role).join(", ")}
            </span>
          </span>
          <IconChevronDown size={15} aria-hidden />
        </button>
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
            onClick={() => speak(tag as Language)}
          >
            {name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component={Link} to={`/members/${member.id}`} leftSection={<IconId size={16} />}>
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
