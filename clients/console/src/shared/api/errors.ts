import { type BerthError, berthError, ErrorReason } from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import type { StepUp } from "../auth/auth";
import { showTime } from "../format/time";
import type { Texts } from "../i18n";

/** The metadata of an error, with times formatted for the user. */
function readable(error: BerthError, locale: string, zone: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(error.metadata).map(([name, value]) => {
      const at = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
      const isTime = !Number.isNaN(at);
      return [name, isTime ? showTime(timestampFromMs(at), zone, locale, "dayTime") : value];
    }),
  );
}

/** Why a call failed, and what to do, in the user's language. */
export function explain(thrown: unknown, t: Texts, locale: string, zone: string): string {
  const error = berthError(thrown);
  const name = ErrorReason[error.reason] as keyof Texts["reasons"];
  const text = t.reasons[name];
  if (text) return text(readable(error, locale, zone));
  switch (error.code) {
    case Code.Unavailable:
    case Code.Unknown:
      return t.errors.unreachable;
    case Code.Unauthenticated:
      return t.errors.signedOut;
    default:
      return error.message;
  }
}

export const reasonOf = (thrown: unknown): ErrorReason => berthError(thrown).reason;

/** The sign-in that an organization asks for, if the call failed for lack of it. */
export function stepUpOf(thrown: unknown): StepUp | undefined {
  const { reason, metadata } = berthError(thrown);
  if (reason !== ErrorReason.STEP_UP_REQUIRED) return undefined;
  const { max_age, acr_values } = metadata;
  return { ...(max_age && { max_age: Number(max_age) }), ...(acr_values && { acr_values }) };
}
