import {
  CreditService,
  MemberService,
  MemberStatus,
  SessionService,
  SessionStatus,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { useLocalStorage } from "@mantine/hooks";
import { useState } from "react";
import { useCan, useMe } from "../../shared/auth/user";
import { DAY } from "../../shared/format/time";
import { useCatalogQuery } from "../catalog/data";
import { type Step, stepsOf } from "./steps";

const slow = { staleTime: 60_000 };

/** Sessions within half a year of today count. */
const halfYear = 183 * DAY;

/** The steps of the setup, from what the organization has. undefined until it has loaded. */
export function useSteps(): Readonly<Record<Step, boolean>> | undefined {
  const { member } = useMe();
  const can = useCan();
  const catalog = useCatalogQuery().data;
  const [today] = useState(() => Math.floor(Date.now() / DAY) * DAY);
  const startsWithin = {
    start: timestampFromMs(today - halfYear),
    end: timestampFromMs(today + halfYear),
  };
  const plans = useQuery(
    CreditService.method.listPlans,
    { pageSize: 1 },
    { ...slow, enabled: can("plan.read") },
  );
  const sessions = useQuery(
    SessionService.method.listSessions,
    { filter: { startsWithin, statuses: [SessionStatus.PUBLISHED] }, pageSize: 1 },
    slow,
  );
  const people = useQuery(
    MemberService.method.listMembers,
    { filter: { statuses: [MemberStatus.ACTIVE] }, pageSize: 100 },
    { ...slow, enabled: can("member.read") },
  );
  if (!catalog || !plans.data || !sessions.data || !people.data) return undefined;
  return stepsOf({
    locations: catalog.locations.filter(({ active }) => active).length,
    services: catalog.services.filter(({ active }) => active).length,
    plans: plans.data.plans.length,
    sessions: sessions.data.sessions.length,
    people: [...catalog.staff, ...people.data.members],
    me: member.id,
  });
}

/** The steps that the user leaves out, in this browser. */
export function useSkipped() {
  const { tenant } = useMe();
  const [skipped, setSkipped] = useLocalStorage<readonly Step[]>({
    key: `berth.setup.${tenant.id}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  return {
    skipped,
    skip: (step: Step) => setSkipped((before) => [...before, step]),
    resume: (step: Step) => setSkipped((before) => before.filter((one) => one !== step)),
  };
}
