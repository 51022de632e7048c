import {
  IconAdjustmentsHorizontal,
  IconBarbell,
  IconCalendarWeek,
  IconChartBar,
  IconClockHour4,
  IconFileImport,
  IconFlag3,
  IconHistory,
  IconKey,
  IconMessage2,
  IconShieldLock,
  IconStack2,
  IconTicket,
  IconUsers,
} from "@tabler/icons-react";
import { useText } from "../../i18n";
import { useCan } from "../../shared/me";
import { useCatalogQuery } from "../catalog/data";
import { routes } from "../routes";

/** The pages of the navigation: the route, the icon, and the key that opens it after "g". */
const items = [
  ["schedule", IconCalendarWeek, "s", "run"],
  ["teeSheet", IconFlag3, "t", "run"],
  ["members", IconUsers, "m", "run"],
  ["analytics", IconChartBar, "a", "run"],
  ["catalog", IconStack2, "c", "set"],
  ["workouts", IconBarbell, "x", "set"],
  ["plans", IconTicket, "p", "set"],
  ["policies", IconAdjustmentsHorizontal, "o", "set"],
  ["waitlist", IconClockHour4, "w", "set"],
  ["messages", IconMessage2, "e", "set"],
  ["imports", IconFileImport, "i", "set"],
  ["roles", IconShieldLock, "r", "set"],
  ["accounts", IconKey, "k", "set"],
  ["audit", IconHistory, "l", "set"],
] as const;

/** The permission that each page needs. */
export function usePermissions(): Readonly<Record<keyof typeof routes, string>> {
  const can = useCan();
  return {
    schedule: "session.read",
    session: "booking.roster",
    teeSheet: "booking.roster",
    members: "member.read",
    member: "member.read",
    analytics: "analytics.read",
    catalog: "catalog.read",
    workouts: "workout.read",
    plans: "plan.read",
    policies: "policy.read",
    waitlist: "waitlist.read_rules",
    messages: "notification.read",
    imports: can("session.import") ? "session.import" : "member.import",
    roles: "role.read",
    accounts: "account.manage",
    audit: "audit.read",
  };
}

/** The pages that this user may open. */
export function useNavItems() {
  const t = useText();
  const can = useCan();
  const permissions = usePermissions();
  const { data } = useCatalogQuery();
  const tees = data?.resources.some(({ kind, active }) => active && kind.toLowerCase() === "tee");
  return items
    .filter(([page]) => can(permissions[page]) && (page !== "teeSheet" || tees))
    .map(([page, icon, key, group]) => ({
      path: routes[page].pattern,
      name: t.nav[page],
      icon,
      key,
      group,
    }));
}

export type NavItem = ReturnType<typeof useNavItems>[number];
