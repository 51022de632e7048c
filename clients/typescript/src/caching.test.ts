import type { DescService } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { createCachingTransport, isCacheable } from "./caching.js";
import * as client from "./index.js";

function isService(value: unknown): value is DescService {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
}

it("matches the methods that the server allows to cache", () => {
  const methods = (Object.values(client) as unknown[])
    .filter(isService)
    .flatMap((service) => service.methods.filter(isCacheable).map(({ name }) => name));
  expect(methods.sort()).toEqual([
    "GetBenefitProvider",
    "GetItem",
    "GetLocation",
    "GetPlan",
    "GetPolicy",
    "GetResource",
    "GetService",
    "GetSession",
    "GetTenant",
    "GetWorkout",
    "ListBenefitProviders",
    "ListItems",
    "ListLocations",
    "ListPlans",
    "ListResources",
    "ListServices",
    "ListSessions",
    "ListWorkouts",
  ]);
});

it("uses GET for cacheable calls and POST for the rest", async () => {
  const sent: string[] = [];
  const berth = client.createBerthClient({
    baseUrl: "https://berth.test",
    token: "t",
    transport: (to) =>
      createCachingTransport({
        ...to,
        fetch: async (input, init) => {
          const url = new URL(String(input));
          const method = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
          sent.push(`${init?.method} ${method} ${new Headers(init?.headers).get("Authorization")}`);
          expect(url.href.length).toBeLessThan(8000);
          return Response.json({});
        },
      }),
  });
  await berth.sessions.listSessions({ filter: {} });
  await berth.sessions.listSessions({ filter: { sessionIds: Array(500).fill("x".repeat(36)) } });
  await berth.members.listMembers({ filter: { query: "mia@example.com" } });
  await berth.bookings.book({ sessionId: "s" });
  expect(sent).toEqual([
    "GET ListSessions Bearer t",
    "POST ListSessions Bearer t",
    "POST ListMembers Bearer t",
    "POST Book Bearer t",
  ]);
});
