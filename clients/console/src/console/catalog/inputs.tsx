import { Select, type SelectProps, Switch, type SwitchProps } from "@mantine/core";
import { useDesk, useDeskTexts } from "../../i18n/desk";
import { named } from "../../shared/forms/options";
import { onlyId } from "./data";
import { useCatalog } from "./loaded";

/** Switches an entity between active and archived. */
export function ActiveSwitch(props: SwitchProps) {
  const d = useDesk();
  return <Switch label={d.catalog.active} description={d.catalog.activeNote} {...props} />;
}

/** Selects a location. It cannot change once it is saved. */
export function LocationInput({
  fixed,
  ...props
}: SelectProps<string> & {
  /** The saved location. */
  fixed: string | undefined;
}) {
  const { locations } = useCatalog();
  const { t, d } = useDeskTexts();
  return (
    <Select
      label={t.fields.location}
      description={fixed && d.catalog.staysThere}
      required
      allowDeselect={false}
      disabled={fixed !== undefined}
      data={named(locations.filter(({ active, id }) => active || id === fixed))}
      {...props}
    />
  );
}

/** The id of the only location, or "" if there are several. */
export const useOnlyLocation = (): string =>
  onlyId(useCatalog().locations.filter(({ active }) => active));
