import { Code, createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { ErrorReason, SessionService } from "../src/index.js";
import { as, club, days, protocols, refusal, salon } from "./berth.js";

describe.each(protocols)("a refusal over $name", (protocol) => {
  it.each([
    ["no token", undefined],
    ["a token of nobody's", "not.a.token"],
    ["a token that was tampered with", `${club.tokens.owner}x`],
  ])("is UNAUTHENTICATED for an unknown caller: %s", async (_, token) => {
    const sessions = createClient(SessionService, protocol.connect(token));
    expect(await refusal(sessions.getSession({ sessionId: club.session_id }))).toMatchObject({
      reason: ErrorReason.UNAUTHENTICATED,
      code: Code.Unauthenticated,
    });
  });

  it("tells that the token is not valid for the tenant", async () => {
    const { sessions } = as("owner", protocol);
    const call = sessions.getSession({ tenantId: salon.id, sessionId: salon.session_id });
    expect(await refusal(call)).toMatchObject({
      reason: ErrorReason.TENANT_FORBIDDEN,
      code: Code.PermissionDenied,
    });
  });

  it("does not reveal that another tenant has the session", async () => {
    const { sessions } = as("owner", protocol);
    expect(await refusal(sessions.getSession({ sessionId: salon.session_id }))).toMatchObject({
      reason: ErrorReason.SESSION_NOT_FOUND,
      code: Code.NotFound,
    });
  });

  it("names every invalid field", async () => {
    const { sessions } = as("member", protocol);
    const startsWithin = days(0, 7);
    const call = sessions.listSessions({
      filter: { startsWithin, sessionIds: [club.session_id, "my session"] },
      pageSize: 501,
    });
    expect(await refusal(call)).toMatchObject({
      reason: ErrorReason.INVALID_FIELD,
      code: Code.InvalidArgument,
      metadata: { field: "filter.session_ids[1]" },
      violations: [
        { field: "filter.session_ids[1]", message: expect.stringContaining("UUID") },
        { field: "page_size", message: expect.stringContaining("500") },
      ],
    });
  });
});
