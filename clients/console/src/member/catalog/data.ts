import {
  CatalogService,
  CatalogStatus,
  EligibilityStatus,
  type Session,
  SessionStatus,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useLocalStorage } from "@mantine/hooks";
import { useState } from "react";
import { type ListOptions, useAll } from "../../shared/api/lists";
import { HOUR } from "../../shared/format/time";
import { useSessions } from "../../shared/schedules/sessions";

/* What several pages read. */

/** The catalog changes rarely. In ms. */
const staleTime = 60_000;

export const useLocations = (enabled = true) =>
  useAll(CatalogService.method.listLocations, {}, (answer) => answer.locations, {
    staleTime,
    enabled,
  });

/** Also what is not offered any more. */
export const everyStatus = [CatalogStatus.ACTIVE, CatalogStatus.INACTIVE];

export const useServices = (statuses = [CatalogStatus.ACTIVE]) =>
  useAll(
    CatalogService.method.listServices,
    { filter: { statuses } },
    (answer) => answer.services,
    { staleTime },
  );

/** All locations, and the one that the user chose last in this browser. */
export function useChosenLocation() {
  const [id, choose] = useLocalStorage({ key: "berth.member.location", defaultValue: "" });
  const query = useLocations();
  const locations = query.data ?? [];
  return {
    query,
    locations,
    location: locations.find((location) => location.id === id) ?? locations[0],
    choose,
  };
}

/**
 * A range of time around now, in ms before and after. It starts at a full hour and stays the same,
 * so that the query key is stable.
 */
export function useRange(before: number, after: number) {
  const [range] = useState(() => {
    const now = Math.floor(Date.now() / HOUR) * HOUR;
    return { start: timestampFromMs(now - before), end: timestampFromMs(now + after) };
  });
  return range;
}

/** The published sessions of a location. */
export const usePublished = (
  {
    startsWithin,
    locationId,
    serviceId,
  }: {
    startsWithin: ReturnType<typeof useRange>;
    locationId: string | undefined;
    serviceId?: string | undefined;
  },
  options: ListOptions,
) =>
  useSessions(
    {
      startsWithin,
      locationIds: locationId ? [locationId] : [],
      serviceIds: serviceId ? [serviceId] : [],
      statuses: [SessionStatus.PUBLISHED],
    },
    options,
  );

/** Whether the member has booked a session, waits for it or is offered seats of it. */
export const isBooked = ({ eligibility }: Session): boolean =>
  eligibility?.status === EligibilityStatus.BOOKED ||
  eligibility?.status === EligibilityStatus.WAITLISTED ||
  eligibility?.status === EligibilityStatus.OFFERED;
