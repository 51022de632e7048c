import { BookingService, MemberService, SessionService, TenantService } from "@berthhq/client";
import { expect, it } from "vitest";
import { mayBeKept } from "./api";

it.each([
  [SessionService.method.listSessions, true],
  [SessionService.method.getSession, true],
  [TenantService.method.listServices, true],
  [SessionService.method.createSession, false],
  [BookingService.method.listRoster, false],
  [MemberService.method.listMembers, false],
  [MemberService.method.getMe, false],
])("%s may be kept by the browser: %s", (method, want) => {
  expect(mayBeKept(method)).toBe(want);
});
