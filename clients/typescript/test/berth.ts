import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import * as node from "@connectrpc/connect-node";
import * as web from "@connectrpc/connect-web";
import { inject } from "vitest";
import {
  type BerthError,
  BookingService,
  berthError,
  CreditService,
  EventService,
  MemberService,
  SessionService,
} from "../src/index.js";
import type { DemoTenant, Role } from "./server.js";

const { address, tenants } = inject("berth");

/** Tenants that take no payments: their members book without a plan. */
export const club = named("Dunes Golf Club");
export const salon = named("Corner Salon");

function named(name: string): DemoTenant {
  const found = tenants.find((tenant) => tenant.name === name);
  if (!found) throw new Error(`there is no demo tenant ${name}`);
  return found;
}

export interface Protocol {
  readonly name: string;
  /** Without a token, calls are nobody's. */
  connect(token?: string): Transport;
}

// All tokens share one connection, as a backend's would.
const sessionManager = new node.Http2SessionManager(address);

const grpc: Protocol = {
  name: "gRPC",
  connect: (token) =>
    node.createGrpcTransport({ baseUrl: address, sessionManager, interceptors: bearer(token) }),
};

/** Every way in, over the HTTP version that it is usually met on; messages are JSON in one of them. */
export const protocols: readonly Protocol[] = [
  grpc,
  {
    name: "gRPC-Web",
    connect: (token) =>
      node.createGrpcWebTransport({
        baseUrl: address,
        httpVersion: "1.1",
        interceptors: bearer(token),
      }),
  },
  {
    name: "Connect",
    connect: (token) =>
      node.createConnectTransport({
        baseUrl: address,
        httpVersion: "2",
        sessionManager,
        interceptors: bearer(token),
      }),
  },
  {
    name: "Connect with fetch and JSON",
    connect: (token) =>
      web.createConnectTransport({ baseUrl: address, interceptors: bearer(token) }),
  },
];

/** Connect that reads by HTTP GET, and tells the method of each request. */
export function connectWithGet(heard: (httpMethod: string | undefined) => void): Protocol {
  return {
    name: "Connect with GET",
    connect: (token) =>
      web.createConnectTransport({
        baseUrl: address,
        useHttpGet: true,
        interceptors: bearer(token),
        fetch: (input, init) => {
          heard(init?.method);
          return fetch(input, init);
        },
      }),
  };
}

function bearer(token: string | undefined): Interceptor[] {
  if (token === undefined) return [];
  return [
    (next) => (request) => {
      request.header.set("Authorization", `Bearer ${token}`);
      return next(request);
    },
  ];
}

/** The services, for one caller. */
export function as(role: Role, { connect }: Protocol, { tokens }: DemoTenant = club) {
  const transport = connect(tokens[role]);
  return {
    bookings: createClient(BookingService, transport),
    credits: createClient(CreditService, transport),
    events: createClient(EventService, transport),
    members: createClient(MemberService, transport),
    sessions: createClient(SessionService, transport),
  };
}

/** Milliseconds. */
export const day = 24 * 60 * 60 * 1000;

/** The span from one day to another, counted from now. */
export function days(from: number, to: number) {
  const now = Date.now();
  return { start: timestampFromMs(now + from * day), end: timestampFromMs(now + to * day) };
}

/**
 * Puts a session on sale that no other test knows of, two days ahead: it can be cancelled
 * without penalty for another day.
 */
export async function newSession(capacity: number, tenant: DemoTenant = club): Promise<string> {
  const { sessions } = as("owner", grpc, tenant);
  const like = (await sessions.getSession({ sessionId: tenant.session_id })).session;
  if (!like) throw new Error("no session");
  const { serviceId, locationId } = like;
  const startTime = timestampFromMs(Date.now() + 2 * day);
  const made = await sessions.createSession({
    session: { serviceId, locationId, startTime, capacity },
    publish: true,
  });
  return made.session?.id ?? "";
}

/** What a call is refused with. */
export function refusal(call: Promise<unknown>): Promise<BerthError> {
  return call.then(() => {
    throw new Error("it was not refused");
  }, berthError);
}
