import { berthError, ErrorReason } from "@berthhq/client";
import type { Messages } from "../../i18n";
import type { Kinds } from "./kind";

/**
 * The setting that an error is about, if it is one of these: `rules.tier_bonuses.bonuses[0]` is
 * tierBonuses.
 */
export function fieldOf(thrown: unknown, kinds: Kinds): string | undefined {
  if (thrown === undefined) return undefined;
  const { reason, metadata, violations } = berthError(thrown);
  if (reason !== ErrorReason.INVALID_FIELD && reason !== ErrorReason.RULES_INVALID)
    return undefined;
  const path = metadata.field ?? violations[0]?.field ?? "";
  return path
    .split(/[.[]/)
    .map((name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
    .find((name) => Object.hasOwn(kinds, name));
}

/**
 * The error text of a setting. Compiler messages about expressions are in English, so their
 * position is shown, too.
 */
export function tellWrong(thrown: unknown, unfit: string, t: Messages): string {
  const { reason, metadata, message } = berthError(thrown);
  if (reason !== ErrorReason.RULES_INVALID) return unfit;
  const { line = "1", column = "1" } = metadata;
  return t.policies.wrongAt(line, column, message.replace(/^Line \d+, column \d+: /, ""));
}
