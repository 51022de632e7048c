import {
  CatalogService,
  CatalogStatus,
  type Location,
  type Member,
  MemberService,
  MemberStatus,
  type Resource,
  type Service,
} from "@berthhq/client";
import type { DescMessage } from "@bufbuild/protobuf";
import type { QueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { type AllOf, seedAll, useAll } from "../../shared/api/lists";
import { useCan } from "../../shared/auth/user";
import type { Answers } from "../../shared/start/expect-user";

/** The catalog rarely changes. */
const slow = { staleTime: 60_000 };

/** Also what is not in use any more. */
export const everyStatus = [CatalogStatus.ACTIVE, CatalogStatus.INACTIVE];

const list = <I extends DescMessage, O extends DescMessage, T>(...all: AllOf<I, O, T>) => all;
const { listLocations, listServices, listResources } = CatalogService.method;
const everything = { filter: { statuses: everyStatus } };
const allLocations = list(listLocations, everything, (page) => page.locations, slow);
const allServices = list(listServices, everything, (page) => page.services, slow);
const allResources = list(listResources, everything, (page) => page.resources, slow);

/** Stores answers to calls of the first script. */
export function seedCatalog(queries: QueryClient, answers: Answers): void {
  seedAll(queries, answers, ...allLocations);
  seedAll(queries, answers, ...allServices);
  seedAll(queries, answers, ...allResources);
}

export interface Catalog {
  readonly locations: readonly Location[];
  readonly services: readonly Service[];
  readonly resources: readonly Resource[];
  readonly staff: readonly Member[];
  /** The id of the only coach, or of the only staff member; "" if there are several, or while they load. */
  readonly onlyCoach: string;
  readonly location: (id: string) => Location | undefined;
  readonly service: (id: string) => Service | undefined;
  readonly resource: (id: string) => Resource | undefined;
  readonly coach: (id: string) => Member | undefined;
}

const finder = <T extends { id: string }>(list: readonly T[]) => {
  const byId = new Map(list.map((item) => [item.id, item]));
  return (id: string) => byId.get(id);
};

/** The active members with a role. */
const useStaff = (role: string) =>
  useAll(
    MemberService.method.listMembers,
    { filter: { role, statuses: [MemberStatus.ACTIVE] } },
    (page) => page.members,
    { ...slow, enabled: useCan()("member.read") },
  );

/** Locations, services, resources and staff. undefined until all of them have loaded. */
export function useCatalogQuery() {
  const locations = useAll(...allLocations);
  const services = useAll(...allServices);
  const resources = useAll(...allResources);
  const owners = useStaff("owner");
  const admins = useStaff("admin");
  const coaches = useStaff("coach");
  const needed = [locations, services, resources];
  const data = useMemo<Catalog | undefined>(() => {
    if (!locations.data || !services.data || !resources.data) return undefined;
    const unique = new Map(
      [coaches.data, admins.data, owners.data].flatMap((list) =>
        (list ?? []).map((m) => [m.id, m]),
      ),
    );
    const staff = [...unique.values()].sort((a, b) => a.name.localeCompare(b.name));
    const loaded = coaches.data && admins.data && owners.data;
    const [coach, second] = coaches.data?.length ? coaches.data : staff;
    return {
      onlyCoach: loaded && coach && !second ? coach.id : "",
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

/** The id of the only thing, or "" if there are several. */
export const onlyId = ([first, second]: readonly { id: string; active: boolean }[]) =>
  first && !second ? first.id : "";

export const fallbackColor = "#5b7d8f";
