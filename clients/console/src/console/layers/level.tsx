import { PolicyLevel } from "@berthhq/client";
import { Select } from "@mantine/core";
import { useText } from "../../i18n";
import { useAddress } from "../../shared/address";
import type { Catalog } from "../data";

/** The level of the shown settings: the organization, a location or a service. It is in the URL. */
export function useLevel() {
  const [params, change] = useAddress();
  const chosen = params.get("for") ?? "tenant";
  const [kind = "", targetId = ""] = chosen.split(":");
  const level =
    kind === "location"
      ? PolicyLevel.LOCATION
      : kind === "service"
        ? PolicyLevel.SERVICE
        : PolicyLevel.TENANT;
  return {
    chosen,
    level,
    targetId,
    target: {
      ...(kind === "location" && { locationId: targetId }),
      ...(kind === "service" && { serviceId: targetId }),
    },
    choose: (value: string | null) => change({ for: value === "tenant" ? null : value }),
  };
}

export function LevelPicker({ catalog, label }: { catalog: Catalog; label?: string }) {
  const t = useText();
  const { chosen, choose } = useLevel();
  return (
    <Select
      aria-label={label ?? t.policies.level}
      w={270}
      searchable
      allowDeselect={false}
      value={chosen}
      onChange={choose}
      data={[
        { value: "tenant", label: t.policies.tenant },
        {
          group: t.fields.location,
          items: catalog.locations.map(({ id, name }) => ({
            value: `location:${id}`,
            label: name,
          })),
        },
        {
          group: t.fields.service,
          items: catalog.services.map(({ id, name }) => ({ value: `service:${id}`, label: name })),
        },
      ]}
    />
  );
}
