import {
  type Location,
  type Member,
  MemberService,
  MemberStatus,
  type Resource,
  type Service,
  type Session,
  SessionService,
  TenantService,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useMemo } from "react";
import { useAll } from "../shared/all";
import { useCan } from "../shared/me";
import { DAY, millis, startOf, type Temporal } from "../shared/time";

/** The catalog rarely changes. */
const slow = { staleTime: 60_000 };

export interface Catalog {
  readonly locations: readonly Location[];
  readonly services: readonly Service[];
  readonly resources: readonly Resource[];
  readonly staff: readonly Member[];
  readonly location: (id: string) => Location | undefined;
  readonly service: (id: string) => Service | undefined;
  readonly resource: (id: string) => Resource | undefined;
  readonly coach: (id: string) => Member | undefined;
}

const finder = <T extends { id: string }>(list: readonly T[]) => {
  const byId = new Map(list.map((item) => [item.id, item]));
  return (id: string) => byId.get(id);
};

/** Locations, services, resources and staff. undefined until all of them have loaded. */
export function useCatalog() {
  const can = useCan();
  const people = { ...slow, enabled: can("member.read") };
  const everything = { includeInactive: true };
  const locations = useAll(
    TenantService.method.listLocations,
    everything,
    (a) => a.locations,
    slow,
  );
  const services = useAll(TenantService.method.listServices, everything, (a) => a.services, slow);
  const resources = useAll(
    TenantService.method.listResources,
    everything,
    (a) => a.resources,
    slow,
  );
  const led = (role: string) => ({ role, status: MemberStatus.ACTIVE });
  const owners = useAll(MemberService.method.listMembers, led("owner"), (a) => a.members, people);
  const admins = useAll(MemberService.method.listMembers, led("admin"), (a) => a.members, people);
  const coaches = useAll(MemberService.method.listMembers, led("coach"), (a) => a.members, people);
  const needed = [locations, services, resources];
  const data = useMemo<Catalog | undefined>(() => {
    if (!locations.data || !services.data || !resources.data) return undefined;
    const unique = new Map(
      [coaches.data, admins.data, owners.data].flatMap((list) =>
        (list ?? []).map((m) => [m.id, m]),
      ),
    );
    const staff = [...unique.values()].sort((a, b) => a.name.localeCompare(b.name));
    return {
      locations: locations.data,
      services: services.data,
      resources: resources.data,
      staff,
      location: finder(locations.data),
      service: finder(services.data),
      resource: finder(resources.data),
      coach: finder(staff),
    };
  }, [locations.data, services.data, resources.data, owners.data, admins.data, coaches.data]);
  return {
    data,
    error: needed.find(({ error }) => error)?.error ?? null,
    isPending: !data,
    refetch: () => {
      for (const query of needed) void query.refetch();
    },
  };
}

/**
 * The sessions of a number of days, by their local date. A margin of one day on both sides covers
 * all time zones; sessions outside the days are dropped.
 */
export function useSchedule(from: Temporal.PlainDate, days: number, locationId: string) {
  const start = millis(startOf(from, "UTC")) - DAY;
  const end = start + (days + 2) * DAY;
  const query = useAll(
    SessionService.method.listSessions,
    {
      filter: {
        startsWithin: { start: timestampFromMs(start), end: timestampFromMs(end) },
        locationIds: locationId ? [locationId] : [],
      },
    },
    (answer) => answer.sessions,
    { keep: true, refetchInterval: 60_000 },
  );
  const first = from.toString();
  const data = useMemo(() => {
    const last = from.add({ days: days - 1 }).toString();
    return query.data?.filter((session) => {
      const day = dayOf(session);
      return day >= first && day <= last;
    });
  }, [query.data, first, days, from]);
  return { ...query, data };
}

/** The local date of a session, such as 2026-03-18. */
export function dayOf({ localDate }: Session): string {
  const { year = 0, month = 0, day = 0 } = localDate ?? {};
  const pad = (n: number, to: number) => String(n).padStart(to, "0");
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

export const fallbackColor = "#5b7d8f";
