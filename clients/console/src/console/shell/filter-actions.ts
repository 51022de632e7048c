import { contains } from "../../shared/search/fold";

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
