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
import { useText } from "../i18n";
import { useCan } from "../shared/me";
import { useCatalog } from "./data";

export interface NavItem {
  readonly path: string;
  readonly name: string;
  readonly permission: string;
  readonly icon: typeof IconUsers;
  /** The key that opens it, pressed after "g". */
  readonly key: string;
  readonly group: "run" | "set";
}

/** The pages that this user may open. */
export function useNavItems(): NavItem[] {
  const t = useText();
  const can = useCan();
  const { data } = useCatalog();
  const tees = data?.resources.some(({ kind, active }) => active && kind.toLowerCase() === "tee");
  const all: (NavItem | false | undefined)[] = [
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
      permission: "waitlist.read_rules",
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
  return all.filter((item): item is NavItem => Boolean(item) && can((item as NavItem).permission));
}
