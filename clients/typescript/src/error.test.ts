import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { ViolationsSchema } from "./gen/buf/validate/validate_pb.js";
import { ErrorInfoSchema } from "./gen/google/rpc/error_details_pb.js";
import { berthError, ErrorReason } from "./index.js";

function refused(reason: string, domain = "berth"): ConnectError {
  return new ConnectError("no seat", Code.FailedPrecondition, undefined, [
    { desc: ErrorInfoSchema, value: { domain, reason, metadata: { limit: "2" } } },
  ]);
}

describe("berthError", () => {
  it("reads the reason and its metadata", () => {
    expect(berthError(refused("SESSION_FULL"))).toEqual({
      reason: ErrorReason.SESSION_FULL,
      reasonName: "SESSION_FULL",
      code: Code.FailedPrecondition,
      message: "no seat",
      metadata: { limit: "2" },
      violations: [],
    });
  });

  it("names each invalid field", () => {
    const error = new ConnectError("invalid", Code.InvalidArgument, undefined, [
      {
        desc: ViolationsSchema,
        value: {
          violations: [
            {
              field: { elements: [{ fieldName: "session" }, { fieldName: "capacity" }] },
              message: "must be at least 1",
            },
            {
              field: {
                elements: [
                  { fieldName: "rules", subscript: { case: "index", value: 2n } },
                  { fieldName: "tiers", subscript: { case: "stringKey", value: "gold" } },
                ],
              },
              message: "must be known",
            },
          ],
        },
      },
    ]);
    expect(berthError(error).violations).toEqual([
      { field: "session.capacity", message: "must be at least 1" },
      { field: 'rules[2].tiers["gold"]', message: "must be known" },
    ]);
  });

  it.each([
    ["a reason of another domain", refused("SESSION_FULL", "example.com"), Code.FailedPrecondition],
    ["a reason newer than this client", refused("FROM_THE_FUTURE"), Code.FailedPrecondition],
    ["a failure that is not Berth's", new TypeError("fetch failed"), Code.Unknown],
  ])("has no reason for %s", (_, thrown, code) => {
    expect(berthError(thrown)).toMatchObject({ reason: ErrorReason.UNSPECIFIED, code });
  });
});
