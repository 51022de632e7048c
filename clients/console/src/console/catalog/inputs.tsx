import { Switch, type SwitchProps } from "@mantine/core";
import { useText } from "../../shared/i18n";
import { onlyId } from "./data";
import { useCatalog } from "./loaded";
import { catalogTexts } from "./texts";

/** Switches an entity between active and archived. */
export function ActiveSwitch(props: SwitchProps) {
  const t = useText(catalogTexts);
  return <Switch label={t.catalog.active} description={t.catalog.activeNote} {...props} />;
}

/** The id of the only location, or "" if there are several. */
export const useOnlyLocation = (): string =>
  onlyId(useCatalog().locations.filter(({ active }) => active));
