import { SettingLevel } from "@berthhq/client";
import { Select } from "@mantine/core";
import { useText } from "../../shared/i18n";
import { useSearch } from "../../shared/routing/route";
import { useCatalogQuery } from "../catalog/data";
import { common } from "../routes";
import { settingTexts } from "./texts";

/** The level of the shown settings: the organization, a location or a service. It is in the URL. */
export function useLevel() {
  const [{ for: chosen }, change] = useSearch(common);
  const [kind = "", targetId = ""] = chosen.split(":");
  const level =
    { location: SettingLevel.LOCATION, service: SettingLevel.SERVICE }[kind] ?? SettingLevel.TENANT;
  return {
    chosen,
    level,
    targetId,
    target: {
      ...(kind === "location" && { locationId: targetId }),
      ...(kind === "service" && { serviceId: targetId }),
    },
    choose: (value: string | null) => change({ for: value ?? undefined }),
  };
}

/** The name of a level: of its location or service, if it has one. */
export function useLevelName() {
  const t = useText(settingTexts);
  const { data } = useCatalogQuery();
  return (level: SettingLevel, targetId = "") =>
    data?.location(targetId)?.name ?? data?.service(targetId)?.name ?? t.policies.levels[level];
}

const options = (kind: string, targets: readonly { id: string; name: string }[]) =>
  targets.map(({ id, name }) => ({ value: `${kind}:${id}`, label: name }));

export function LevelPicker({ label }: { label?: string }) {
  const t = useText(settingTexts);
  const { data } = useCatalogQuery();
  const { chosen, choose } = useLevel();
  if (!data) return null;
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
        { group: t.fields.location, items: options("location", data.locations) },
        { group: t.fields.service, items: options("service", data.services) },
      ]}
    />
  );
}
