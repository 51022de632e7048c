import type { ComboboxParsedItem, OptionsFilter } from "@mantine/core";
import { contains, fold } from "./fold";

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

/** An action of the command palette. */
interface Action {
  label?: string;
  description?: string;
  keywords?: string | string[];
}

/** The groups of actions that a text names: those whose label has it come first, then those that say it elsewhere. */
export function filterActions<A extends Action, G extends { actions: A[] }>(
  query: string,
  groups: readonly G[],
): G[] {
  return groups
    .map((group) => {
      const named = group.actions.filter(({ label = "" }) => contains(label, query));
      const about = group.actions.filter(
        (one) =>
          !named.includes(one) &&
          [one.description ?? "", one.keywords ?? ""].flat().some((text) => contains(text, query)),
      );
      return { ...group, actions: [...named, ...about] };
    })
    .filter(({ actions }) => actions.length > 0);
}
