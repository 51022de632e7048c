import { IconCalendarWeek, IconTicket, IconUserCircle, IconWallet } from "@tabler/icons-react";
import { lazy, Suspense, useEffect } from "react";
import { NavLink, Route, Routes, useLocation } from "react-router";
import { useText } from "../i18n";
import { useBrand } from "../shared/brand";
import { useMe } from "../shared/me";
import { ErrorBoundary, Logo, Mark, NoPage } from "../shared/ui";
import { WeekPage } from "./week";

const AnyOfPage = lazy(async () => ({ default: (await import("./anyof")).AnyOfPage }));
const BookingsPage = lazy(async () => ({ default: (await import("./bookings")).BookingsPage }));
const CheckInPage = lazy(async () => ({ default: (await import("./checkin")).CheckInPage }));
const CreditsPage = lazy(async () => ({ default: (await import("./credits")).CreditsPage }));
const ReschedulePage = lazy(async () => ({
  default: (await import("./reschedule")).ReschedulePage,
}));
const WaitPage = lazy(async () => ({ default: (await import("./wait")).WaitPage }));
const OfferBanner = lazy(async () => ({ default: (await import("./offered")).OfferBanner }));
const MePage = lazy(async () => ({ default: (await import("./me")).MePage }));

export function MemberApp() {
  const t = useText();
  const { tenant } = useMe();
  useBrand(tenant);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: on every new page
  useEffect(() => {
    scrollTo(0, 0);
  }, [pathname]);
  const places = [
    ["/", t.app.week, IconCalendarWeek],
    ["/bookings", t.app.myBookings, IconTicket],
    ["/credits", t.app.credits, IconWallet],
    ["/me", t.app.me, IconUserCircle],
  ] as const;
  return (
    <>
      <a className="skip" href="#main">
        {t.nav.skip}
      </a>
      <header className="m-top">
        <div>
          <NavLink to="/" className="wordmark" style={{ minWidth: 0 }}>
            <Logo url={tenant.brand?.logoUrl ?? ""} name={tenant.name}>
              <Mark size={26} />
              <span className="ellipsis">{tenant.name}</span>
            </Logo>
          </NavLink>
          <nav aria-label={t.nav.main}>
            {places.map(([path, name]) => (
              <NavLink key={path} to={path} end={path === "/"}>
                {name}
              </NavLink>
            ))}
          </nav>
        </div>
      </header>
      <main className="m-main" id="main" tabIndex={-1}>
        {pathname !== "/bookings" && (
          <Suspense fallback={null}>
            <OfferBanner />
          </Suspense>
        )}
        <ErrorBoundary>
          <Suspense fallback={null}>
            <Routes>
              <Route path="/" element={<WeekPage />} />
              <Route path="/bookings" element={<BookingsPage />} />
              <Route path="/checkin/:id" element={<CheckInPage />} />
              <Route path="/credits" element={<CreditsPage />} />
              <Route path="/move/:id" element={<ReschedulePage />} />
              <Route path="/wait" element={<WaitPage />} />
              <Route path="/wait/any" element={<AnyOfPage />} />
              <Route path="/me" element={<MePage />} />
              <Route path="*" element={<NoPage home={t.app.week} />} />
            </Routes>
          </Suspense>
        </ErrorBoundary>
      </main>
      <nav className="m-tabs" aria-label={t.nav.menu}>
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
