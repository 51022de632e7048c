import type { Location } from "@berthhq/client";
import { NativeSelect, type NativeSelectProps } from "@mantine/core";
import { named } from "../../shared/forms/options";

type LocationSelectProps = NativeSelectProps & {
  locations: readonly Location[];
  location: Location | undefined;
  onChoose: (id: string) => void;
};

/** Selects a location, if there are several. */
export function LocationSelect({ locations, location, onChoose, ...props }: LocationSelectProps) {
  if (locations.length < 2) return null;
  return (
    <NativeSelect
      value={location?.id ?? ""}
      onChange={(event) => onChoose(event.currentTarget.value)}
      data={named(locations)}
      {...props}
    />
  );
}
