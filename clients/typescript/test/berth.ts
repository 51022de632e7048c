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
  ImportService,
  MemberService,
  SessionService,
  WaitlistService,
} from "../src/index.js";
import type { DemoTenant, Role } from "./server.js";

const { address, tenants } = inject("berth");

/** Tenants without payments: their members book without a plan. */
export const club = named("Dunes Golf Club");
export const salon = named("Corner Salon");

function named(name: string): DemoTenant {
  const found = tenants.find((tenant) => tenant.name === name);
  if (!found) throw new Error(`there is no demo tenant ${name}`);
  return found;
}

export interface Protocol {
  readonly name: string;
  /** Without a token, calls are anonymous. */
  connect(token?: string): Transport;
}

// All tokens share one connection, as in a backend.
const sessionManager = new node.Http2SessionManager(address);

const grpc: Protocol = {
  name: "gRPC",
  connect: (token) =>
    node.createGrpcTransport({ baseUrl: address, sessionManager, interceptors: bearer(token) }),
};

/** All protocols, with the HTTP version that they usually have. One of them uses JSON. */
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

/** Connect with HTTP GET for reads. Reports the HTTP method of each request. */
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

/** The services with the token of a role. */
export function as(role: Role, { connect }: Protocol, { tokens }: DemoTenant = club) {
  const transport = connect(tokens[role]);
  return {
    bookings: createClient(BookingService, transport),
    credits: createClient(CreditService, transport),
    events: createClient(EventService, transport),
    imports: createClient(ImportService, transport),
    members: createClient(MemberService, transport),
    sessions: createClient(SessionService, transport),
    waitlist: createClient(WaitlistService, transport),
  };
}

/** In ms. */
export const day = 24 * 60 * 60 * 1000;

/** A time range, in days from now. */
export function days(from: number, to: number) {
  const now = Date.now();
  return { start: timestampFromMs(now + from * day), end: timestampFromMs(now + to * day) };
}

/**
 * Creates and publishes a session for one test, by default two days ahead, so that bookings can be
 * cancelled free of charge for another day.
 */
export async function newSession(
  capacity: number,
  tenant: DemoTenant = club,
  ahead = 2,
): Promise<string> {
  const { sessions } = as("owner", grpc, tenant);
  const like = (await sessions.getSession({ sessionId: tenant.session_id })).session;
  if (!like) throw new Error("no session");
  const { serviceId, locationId } = like;
  const startTime = timestampFromMs(Date.now() + ahead * day);
  const made = await sessions.createSession({
    session: { serviceId, locationId, startTime, capacity },
    publish: true,
  });
  return made.session?.id ?? "";
}

/** The error of a call that fails. */
export function refusal(call: Promise<unknown>): Promise<BerthError> {
  return call.then(() => {
    throw new Error("it was not refused");
  }, berthError);
}
