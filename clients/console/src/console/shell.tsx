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
  IconChevronDown,
  IconDeviceMobile,
  IconId,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconSearch,
  IconSun,
  IconSunMoon,
} from "@tabler/icons-react";
import {
  type ComponentType,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useRef,
  useState,
} from "react";
import { Link, Route, Routes, useLocation, useNavigate } from "react-router";
import { type Language, languages, useI18n, useText } from "../i18n";
import { useAuth, useCan, useMe } from "../shared/me";
import { useTitle } from "../shared/title";
import { ErrorBoundary, Face, Mark, NoPage, NoPermission, State } from "../shared/ui";
import { type NavItem, useNavItems } from "./nav";
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
const AnalyticsPage = page(() => import("./analytics/page"), "AnalyticsPage");
const PoliciesPage = page(() => import("./layers/policies"), "PoliciesPage");
const RulesPage = page(() => import("./waitlist/rules"), "RulesPage");
const MessagesPage = page(() => import("./messages/page"), "MessagesPage");
const RolesPage = page(() => import("./roles/page"), "RolesPage");
const AccountsPage = page(() => import("./pages/accounts"), "AccountsPage");
const AuditPage = page(() => import("./pages/audit"), "AuditPage");

/** Routes, with the permission that each needs. */
const routes: readonly (readonly [string, string, ComponentType])[] = [
  ["/", "session.read", SchedulePage],
  ["/sessions/:id", "booking.roster", SessionPage],
  ["/tee-sheet", "booking.roster", TeeSheetPage],
  ["/members", "member.read", MembersPage],
  ["/members/:id", "member.read", MemberPage],
  ["/catalog", "catalog.read", CatalogPage],
  ["/workouts", "workout.read", WorkoutsPage],
  ["/plans", "plan.read", PlansPage],
  ["/analytics", "analytics.read", AnalyticsPage],
  ["/policies", "policy.read", PoliciesPage],
  ["/waitlist", "waitlist.read_rules", RulesPage],
  ["/messages", "notification.read", MessagesPage],
  ["/roles", "role.read", RolesPage],
  ["/service-accounts", "account.manage", AccountsPage],
  ["/audit", "audit.read", AuditPage],
];

function Needs({ permission, children }: { permission: string; children: ReactNode }) {
  const can = useCan();
  return can(permission) ? children : <NoPermission permission={permission} />;
}

export function Shell() {
  const can = useCan();
  return can("booking.roster") || can("member.read") ? <Console /> : <StaffOnly />;
}

/** Shown to members who open the console. */
function StaffOnly() {
  const t = useText();
  const auth = useAuth();
  useTitle(t.states.staffOnly);
  return (
    <main style={{ minHeight: "100dvh", display: "grid", placeContent: "center" }}>
      <State
        icon={IconDeviceMobile}
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
  const { language } = useI18n();
  const [drawer, { open, close }] = useDisclosure();
  const [help, { toggle: toggleHelp, close: closeHelp }] = useDisclosure();
  const narrow = useMediaQuery("(max-width: 60em)", undefined, { getInitialValueInEffect: false });
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  useGoKeys();
  useHotkeys([["shift+?", toggleHelp]]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: on every new page
  useEffect(() => {
    close();
    main.current?.scrollTo(0, 0);
  }, [close, pathname]);
  useEffect(() => {
    // Mantine's calendars are localized by dayjs.
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
          <ErrorBoundary key={pathname}>
            <Suspense fallback={null}>
              <Routes>
                {routes.map(([path, permission, Page]) => (
                  <Route
                    key={path}
                    path={path}
                    element={
                      <Needs permission={permission}>
                        <Page />
                      </Needs>
                    }
                  />
                ))}
                <Route
                  path="/imports"
                  element={
                    <Needs permission={can("session.import") ? "session.import" : "member.import"}>
                      <ImportsPage />
                    </Needs>
                  }
                />
                <Route path="*" element={<NoPage home={t.nav.schedule} />} />
              </Routes>
            </Suspense>
          </ErrorBoundary>
        </main>
      </div>
      <Palette />
      <Modal opened={help} onClose={closeHelp} title={t.keys.title}>
        <Keys />
      </Modal>
    </DatesProvider>
  );
}

/** Pressing "g" and a letter opens a page. */
function useGoKeys() {
  const places = useNavItems();
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
  const places = useNavItems();
  const { pathname } = useLocation();
  const at = (path: string) =>
    path === "/" ? pathname === "/" || pathname.startsWith("/sessions") : pathname.startsWith(path);
  const group = (which: NavItem["group"]) =>
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
  const { language, setLanguage } = useI18n();
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
            onClick={() => setLanguage(tag as Language)}
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
