import { ActionIcon, Burger, Button, Center } from "@mantine/core";
import { DatesProvider } from "@mantine/dates";
import { useDisclosure, useMediaQuery } from "@mantine/hooks";
import { useSpotlight } from "@mantine/spotlight";
import { IconDeviceMobile, IconSearch } from "@tabler/icons-react";
import { Suspense, useEffect, useRef } from "react";
import { Route, Routes, useLocation } from "react-router";
import { useAuth, useCan } from "../../shared/auth/user";
import { useI18n, useText } from "../../shared/i18n";
import {
  BerthIcon,
  ErrorBoundary,
  NoPage,
  NoPermission,
  SkipLink,
  State,
  WordmarkLink,
} from "../../shared/ui";
import { later, type Page, page, preload } from "../../shared/ui/lazy";
import { Drawer } from "../../shared/ui/overlays";
import { useTitle } from "../../shared/ui/title";
import { routes } from "../routes";
import { usePermissions } from "./nav";
import { openPalette, paletteStore } from "./open-palette";
import classes from "./shell.module.css";
import { Shortcuts } from "./shortcuts";
import { Sidebar } from "./sidebar";
import { shellTexts } from "./texts";

const Palette = later(() => import("./palette"), "Palette", { opener: "opened" });

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
    <Center component="main" mih="100dvh">
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
        note={t.states.staffOnlyNote}
      />
    </Center>
  );
}

/** The frame of all pages. */
function Console() {
  const { language } = useI18n();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return; // a layout of the first page takes time
    shown.current = pathname;
    main.current?.scrollTo(0, 0);
  }, [pathname]);
  useEffect(() => {
    // Mantine's calendars are localized by dayjs.
    if (language === "de") void import("dayjs/locale/de");
    if (language === "fr") void import("dayjs/locale/fr");
  }, [language]);
  return (
    <DatesProvider settings={{ locale: language, firstDayOfWeek: 1 }}>
      <SkipLink />
      <div className={classes.shell}>
        <Navigation />
        <main id="main" ref={main} tabIndex={-1} className={classes.main}>
          <ErrorBoundary key={pathname}>
            <Pages />
          </ErrorBoundary>
        </main>
      </div>
      <Palette opened={useSpotlight(paletteStore).opened} />
      <Shortcuts />
    </DatesProvider>
  );
}

type Name = keyof typeof routes;

const pages: Readonly<Record<Name, Page>> = {
  schedule: page(() => import("../schedules/page"), "SchedulePage"),
  setup: page(() => import("../setup/page"), "SetupPage"),
  session: page(() => import("../schedules/session/page"), "SessionPage"),
  teeSheet: page(() => import("../schedules/tee-sheet"), "TeeSheetPage"),
  members: page(() => import("../accounts/members"), "MembersPage"),
  member: page(() => import("../accounts/member/page"), "MemberPage"),
  analytics: page(() => import("../bookings/analytics/page"), "AnalyticsPage"),
  catalog: page(() => import("../catalog/page"), "CatalogPage"),
  workouts: page(() => import("../schedules/workouts/page"), "WorkoutsPage"),
  plans: page(() => import("../catalog/plans"), "PlansPage"),
  policies: page(() => import("../settings/policies"), "PoliciesPage"),
  waitlist: page(() => import("../waitlists/desk/page"), "WaitlistPage"),
  waitlistRules: page(() => import("../waitlists/rules"), "RulesPage"),
  messages: page(() => import("../messages/page"), "MessagesPage"),
  imports: page(() => import("../imports/page"), "ImportsPage"),
  roles: page(() => import("../accounts/roles/page"), "RolesPage"),
  accounts: page(() => import("../accounts/service-accounts"), "AccountsPage"),
  audit: page(() => import("../accounts/audit"), "AuditPage"),
};
const entries = Object.entries(pages) as [Name, Page][];

/** Resolves when the page of the current URL has loaded. */
export const ready = preload(entries.map(([name, shown]) => [routes[name].pattern, shown]));

/** The page at the current URL. */
export function Pages() {
  const t = useText();
  const can = useCan();
  const permissions = usePermissions();
  return (
    <Suspense fallback={null}>
      <Routes>
        {entries.map(([name, Content]) => (
          <Route
            key={name}
            path={routes[name].pattern}
            element={
              can(permissions[name]) ? <Content /> : <NoPermission permission={permissions[name]} />
            }
          />
        ))}
        <Route path="*" element={<NoPage home={t.nav.schedule} />} />
      </Routes>
    </Suspense>
  );
}

/** The sidebar, or a bar with its menu on narrow screens. */
function Navigation() {
  const t = useText(shellTexts);
  const { pathname } = useLocation();
  const [opened, { open, close }] = useDisclosure();
  const narrow = useMediaQuery("(max-width: 60em)", undefined, { getInitialValueInEffect: false });
  // biome-ignore lint/correctness/useExhaustiveDependencies: on every new page
  useEffect(close, [close, pathname]);
  if (!narrow) {
    return (
      <aside className={classes.side}>
        <Sidebar />
      </aside>
    );
  }
  return (
    <>
      <header className={classes.bar}>
        <Burger opened={opened} onClick={open} size="sm" aria-label={t.nav.menu} />
        <WordmarkLink to={routes.schedule.path()}>
          <BerthIcon /> Berth
        </WordmarkLink>
        <ActionIcon size="lg" aria-label={t.palette.open} onClick={openPalette}>
          <IconSearch size={18} />
        </ActionIcon>
      </header>
      <Drawer opened={opened} onClose={close} position="left" size={280} title={t.nav.menu}>
        <Sidebar />
      </Drawer>
    </>
  );
}
