import { type Code, ConnectError } from "@connectrpc/connect";
import { ErrorReason } from "./gen/berth/v1/error_pb.js";
import { type FieldPathElement, ViolationsSchema } from "./gen/buf/validate/validate_pb.js";
import { ErrorInfoSchema } from "./gen/google/rpc/error_details_pb.js";

/** Why a call failed. Branch on `reason`; `message` is for people and may change. */
export interface BerthError {
  /** `UNSPECIFIED` if this client does not know the reason, or the error is not from Berth. */
  readonly reason: ErrorReason;
  /** The reason as Berth sent it, such as `"SESSION_FULL"`, also if this client does not know it. */
  readonly reasonName: string;
  readonly code: Code;
  readonly message: string;
  /** Details, as documented with the reason. Times are RFC 3339 in UTC. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Invalid fields; empty unless `reason` is `INVALID_FIELD`. */
  readonly violations: readonly Violation[];
}

/** An invalid field. */
export interface Violation {
  /** The path in the request, with the names of the contract: `filter.session_ids[2]`. */
  readonly field: string;
  /** What a valid value would be. */
  readonly message: string;
}

/** Reads anything that a call threw. A network failure or an abort has its Connect code. */
export function berthError(thrown: unknown): BerthError {
  const error = ConnectError.from(thrown);
  const info = error.findDetails(ErrorInfoSchema).find(({ domain }) => domain === "berth");
  return {
    reason: reasonNamed(info?.reason),
    reasonName: info?.reason ?? "",
    code: error.code,
    message: error.rawMessage,
    metadata: info?.metadata ?? {},
    violations: error
      .findDetails(ViolationsSchema)
      .flatMap(({ violations }) => violations)
      .map(({ field, message }) => ({
        field: field?.elements.map(nameOf).join(".") ?? "",
        message,
      })),
  };
}

function reasonNamed(name: string | undefined): ErrorReason {
  const reason = name === undefined ? undefined : ErrorReason[name as keyof typeof ErrorReason];
  return reason ?? ErrorReason.UNSPECIFIED;
}

function nameOf({ fieldName, subscript }: FieldPathElement): string {
  if (subscript.case === undefined) return fieldName;
  const key = subscript.case === "stringKey" ? JSON.stringify(subscript.value) : subscript.value;
  return `${fieldName}[${key}]`;
}
