import { Select, type SelectProps, Switch, type SwitchProps } from "@mantine/core";
import { named } from "../../shared/forms/options";
import { useText } from "../../shared/i18n";
import { onlyId } from "./data";
import { useCatalog } from "./loaded";
import { catalogTexts } from "./texts";

/** Switches an entity between active and archived. */
export function ActiveSwitch(props: SwitchProps) {
  const t = useText(catalogTexts);
  return <Switch label={t.catalog.active} description={t.catalog.activeNote} {...props} />;
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
  const t = useText(catalogTexts);
  return (
    <Select
      label={t.fields.location}
      description={fixed && t.catalog.staysThere}
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
