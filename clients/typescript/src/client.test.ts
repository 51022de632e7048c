import type { DescService } from "@bufbuild/protobuf";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, it } from "vitest";
import * as client from "./index.js";

it("has every service of the contract", () => {
  const services = (Object.values(client) as unknown[]).filter(isService);
  const methods = services.flatMap((service) => Object.keys(service.method));
  const berth = client.createBerthClient({ baseUrl: "https://berth.test" });
  const there = Object.values(berth).flatMap((service) => Object.keys(service));
  expect(methods.filter((method) => !there.includes(method))).toEqual([]);
});

function isService(value: unknown): value is DescService {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
}

it("takes credentials of its own and fills in the tenant, with or without services", async () => {
  const heard: (string | null)[] = [];
  const options: client.BerthConnectionOptions = {
    baseUrl: "",
    credentials: { current: async () => "mine", refused: async () => false },
    tenantId: () => "harbour",
    transport: () =>
      createRouterTransport(({ service }) => {
        service(client.TenantService, {
          getTenant: ({ tenantId }, { requestHeader }) => {
            heard.push(tenantId, requestHeader.get("Authorization"));
            return {};
          },
        });
      }),
  };
  await client.createBerthClient(options).tenants.getTenant({});
  const { transport } = client.createBerthConnection(options);
  await createClient(client.TenantService, transport).getTenant({});
  expect(heard).toEqual(["harbour", "Bearer mine", "harbour", "Bearer mine"]);
});

it("exchanges a key for a token and uses it until it expires", async () => {
  const tokens: (string | null)[] = [];
  let exchanged = 0;
  const berth = client.createBerthClient({
    baseUrl: "",
    key: "berth_key",
    transport: () =>
      createRouterTransport(({ service }) => {
        service(client.AccessService, {
          exchangeKey: ({ key }) => ({
            accessToken: `${key}-${++exchanged}`,
            expiresIn: { seconds: 900n },
          }),
        });
        service(client.TenantService, {
          getTenant: (_, { requestHeader }) => {
            tokens.push(requestHeader.get("Authorization"));
            return {};
          },
        });
      }),
  });
  await Promise.all([berth.tenants.getTenant({}), berth.tenants.getTenant({})]);
  await berth.tenants.getTenant({});
  expect(tokens).toEqual(Array(3).fill("Bearer berth_key-1"));
});
