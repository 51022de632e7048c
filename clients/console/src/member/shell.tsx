import { Text } from "@mantine/core";
import { IconCalendarWeek, IconTicket, IconUserCircle, IconWallet } from "@tabler/icons-react";
import { Suspense, useEffect } from "react";
import { BrowserRouter, NavLink, Route, Routes, useLocation } from "react-router";
import { useMe } from "../shared/auth/user";
import { useText } from "../shared/i18n";
import { useBrand } from "../shared/theme/brand";
import { BerthIcon, ErrorBoundary, Logo, NoPage, SkipLink, WordmarkLink } from "../shared/ui";
import { page, preload } from "../shared/ui/lazy";
import { routes } from "./routes";
import { WeekPage } from "./schedules/week";
import classes from "./shell.module.css";
import { memberTexts } from "./texts";

const OfferBanner = page(() => import("./waitlists/offers"), "OfferBanner");

const pages = [
  [routes.week.pattern, WeekPage], // where most users start
  [routes.bookings.pattern, page(() => import("./bookings/page"), "BookingsPage")],
  [routes.reschedule.pattern, page(() => import("./bookings/reschedule"), "ReschedulePage")],
  [routes.checkIn.pattern, page(() => import("./bookings/check-in"), "CheckInPage")],
  [routes.waitForWindow.pattern, page(() => import("./waitlists/join"), "WindowPage")],
  [routes.waitForAny.pattern, page(() => import("./waitlists/join"), "AnyOfPage")],
  [routes.credits.pattern, page(() => import("./accounts/credits"), "CreditsPage")],
  [routes.account.pattern, page(() => import("./accounts/page"), "AccountPage")],
] as const;

/** Resolves when the page of the current URL has loaded. */
export const ready = preload(pages, "/app");

export const App = () => (
  <BrowserRouter basename="/app">
    <MemberApp />
  </BrowserRouter>
);

function MemberApp() {
  const t = useText(memberTexts);
  const { tenant } = useMe();
  useBrand(tenant);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: on every new page
  useEffect(() => {
    scrollTo(0, 0);
  }, [pathname]);
  const places = [
    [routes.week.path(), t.app.week, IconCalendarWeek],
    [routes.bookings.path(), t.app.myBookings, IconTicket],
    [routes.credits.path(), t.app.credits, IconWallet],
    [routes.account.path(), t.app.me, IconUserCircle],
  ] as const;
  return (
    <>
      <SkipLink />
      <header className={classes.header}>
        <div className={classes.row}>
          <WordmarkLink to={routes.week.path()}>
            <Logo url={tenant.brand?.logoUrl ?? ""} name={tenant.name}>
              <BerthIcon size={26} />
              <Text span inherit truncate>
                {tenant.name}
              </Text>
            </Logo>
          </WordmarkLink>
          <nav className={classes.nav} aria-label={t.nav.main}>
            {places.map(([path, name]) => (
              <NavLink key={path} to={path} end={path === "/"}>
                {name}
              </NavLink>
            ))}
          </nav>
        </div>
      </header>
      <main className={classes.main} id="main" tabIndex={-1}>
        {pathname !== routes.bookings.pattern && (
          <Suspense fallback={null}>
            <OfferBanner />
          </Suspense>
        )}
        <ErrorBoundary>
          <Suspense fallback={null}>
            <Routes>
              {pages.map(([pattern, Page]) => (
                <Route key={pattern} path={pattern} element={<Page />} />
              ))}
              <Route path="*" element={<NoPage home={t.app.week} />} />
            </Routes>
          </Suspense>
        </ErrorBoundary>
      </main>
      <nav className={classes.tabs} aria-label={t.nav.menu}>
        {places.map(([path, name, Icon]) => (
          <NavLink key={path} to={path} end={path === "/"}>
            <Icon size={22} stroke={1.6} aria-hidden />
            {name}
          </NavLink>
        ))}
      </nav>
    </>
  );
}
