import type { ComboboxParsedItem, OptionsFilter } from "@mantine/core";
import { fold } from "./fold";

/** The options of a select whose label has the text. It takes the place of that of the library, which knows accents. */
export const filterOptions: OptionsFilter = ({ options, search, limit }) => {
  const wanted = fold(search);
  let left = limit;
  const matching = (items: readonly ComboboxParsedItem[]): ComboboxParsedItem[] =>
    items.flatMap((item): ComboboxParsedItem[] => {
      if (left <= 0) return [];
      if ("group" in item) {
        const inside = matching(item.items).filter((one) => "value" in one);
        return inside.length > 0 ? [{ ...item, items: inside }] : [];
      }
      if (!fold(item.label).includes(wanted)) return [];
      left--;
      return [item];
    });
  return matching(options);
};
