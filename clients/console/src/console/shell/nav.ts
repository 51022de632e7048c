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
  IconListCheck,
  IconMessage2,
  IconShieldLock,
  IconSortAscending2,
  IconStack2,
  IconTicket,
  IconUsers,
} from "@tabler/icons-react";
import { useCan } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { useCatalogQuery } from "../catalog/data";
import { routes } from "../routes";

/** The pages of the navigation: the permission, the icon, and the key that opens it after "g". */
const items = [
  ["schedule", "session.read", IconCalendarWeek, "s", "run"],
  // The sidebar shows it only as long as something is left to do.
  ["setup", "tenant.update", IconListCheck, "h", "start"],
  ["teeSheet", "booking.roster", IconFlag3, "t", "run"],
  ["members", "member.read", IconUsers, "m", "run"],
  ["waitlist", "waitlist.read", IconClockHour4, "w", "run"],
  ["analytics", "analytics.read", IconChartBar, "a", "run"],
  ["catalog", "catalog.read", IconStack2, "c", "set"],
  ["workouts", "workout.read", IconBarbell, "x", "set"],
  ["plans", "plan.read", IconTicket, "p", "set"],
  ["policies", "policy.read", IconAdjustmentsHorizontal, "o", "set"],
  ["waitlistRules", "waitlist.read_rules", IconSortAscending2, "u", "set"],
  ["messages", "notification.read", IconMessage2, "e", "set"],
  ["imports", "member.import", IconFileImport, "i", "set"],
  ["roles", "role.read", IconShieldLock, "r", "set"],
  ["accounts", "account.manage", IconKey, "k", "set"],
  ["audit", "audit.read", IconHistory, "l", "set"],
] as const;

/** Permissions of the other pages. */
const others = { session: "booking.roster", member: "member.read" };

/** The permission that each page needs. */
export function usePermissions() {
  const can = useCan();
  const imports = ["session.import", "subscription.import", "booking.import"].find(can);
  return {
    ...others,
    ...Object.fromEntries(items.map(([page, permission]) => [page, permission])),
    ...(imports && { imports }),
  } as Readonly<Record<keyof typeof routes, string>>;
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
    .map(([page, , icon, key, group]) => ({
      path: routes[page].pattern,
      name: t.nav[page],
      icon,
      key,
      group,
    }));
}

export type NavItem = ReturnType<typeof useNavItems>[number];
