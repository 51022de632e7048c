import type { SettingLevel } from "@berthhq/client";
import type { Kinds } from "./kind";

/*
 * Settings that are inherited by level: defaults, organization, location, service. Each level
 * overrides some of them.
 */

export interface Settings {
  readonly kinds: Kinds;
  readonly groups: readonly (readonly [string, readonly string[]])[];
  /** Name and description. */
  readonly texts: Readonly<Record<string, readonly [string, string]>>;
  /** Error texts of settings whose value is valid on its own but conflicts with others. */
  readonly unfit?: Readonly<Record<string, string>>;
}

/** The settings of each group, in the order of the page. */
export const settingsIn = <G extends string>(
  titles: Readonly<Record<G, string>>,
  groups: Readonly<Record<G, Kinds>>,
): Pick<Settings, "kinds" | "groups"> => ({
  kinds: Object.assign({}, ...Object.values(groups)),
  groups: (Object.keys(groups) as G[]).map((name) => [titles[name], Object.keys(groups[name])]),
});

export interface Layer {
  readonly level: SettingLevel;
  readonly targetId: string;
  readonly etag: string;
  readonly set: object | undefined;
}
