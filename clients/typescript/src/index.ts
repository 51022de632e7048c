/**
 * A client of the Berth API: `createBerthClient` creates a client of all services, `berthError` tells
 * why a call failed, and `all` and `pages` read lists. The messages are generated from the contract.
 *
 * @packageDocumentation
 */

export { createCachingTransport } from "./caching.js";
export {
  type BerthClient,
  type BerthClientOptions,
  type BerthConnection,
  type BerthConnectionOptions,
  createBerthClient,
  createBerthConnection,
} from "./client.js";
export {
  type Credentials,
  credentials,
  ownSignIn,
  type Refresh,
  type Token,
} from "./credentials.js";
export { type BerthError, berthError, type Violation } from "./error.js";
export * from "./gen/berth/v1/access_pb.js";
export * from "./gen/berth/v1/access_service_pb.js";
export * from "./gen/berth/v1/analytics_pb.js";
export * from "./gen/berth/v1/analytics_service_pb.js";
export * from "./gen/berth/v1/audit_pb.js";
export * from "./gen/berth/v1/audit_service_pb.js";
export * from "./gen/berth/v1/benefit_pb.js";
export * from "./gen/berth/v1/booking_pb.js";
export * from "./gen/berth/v1/booking_service_pb.js";
export * from "./gen/berth/v1/catalog_pb.js";
export * from "./gen/berth/v1/catalog_service_pb.js";
export * from "./gen/berth/v1/check_in_pb.js";
export * from "./gen/berth/v1/check_in_service_pb.js";
export * from "./gen/berth/v1/common_pb.js";
export * from "./gen/berth/v1/credit_pb.js";
export * from "./gen/berth/v1/credit_service_pb.js";
export * from "./gen/berth/v1/error_pb.js";
export * from "./gen/berth/v1/event_pb.js";
export * from "./gen/berth/v1/event_service_pb.js";
export * from "./gen/berth/v1/import_pb.js";
export * from "./gen/berth/v1/import_service_pb.js";
export * from "./gen/berth/v1/invitation_pb.js";
export * from "./gen/berth/v1/invitation_service_pb.js";
export * from "./gen/berth/v1/item_pb.js";
export * from "./gen/berth/v1/member_pb.js";
export * from "./gen/berth/v1/member_service_pb.js";
export * from "./gen/berth/v1/notification_pb.js";
export * from "./gen/berth/v1/notification_service_pb.js";
export * from "./gen/berth/v1/payment_pb.js";
export * from "./gen/berth/v1/policy_pb.js";
export * from "./gen/berth/v1/role_pb.js";
export * from "./gen/berth/v1/session_pb.js";
export * from "./gen/berth/v1/session_service_pb.js";
export * from "./gen/berth/v1/sign_in_service_pb.js";
export * from "./gen/berth/v1/tenant_pb.js";
export * from "./gen/berth/v1/tenant_service_pb.js";
export * from "./gen/berth/v1/waitlist_pb.js";
export * from "./gen/berth/v1/waitlist_service_pb.js";
export * from "./gen/berth/v1/workout_pb.js";
export * from "./gen/berth/v1/workout_service_pb.js";
export { all, type ListMethod, pages } from "./page.js";
export { newIdempotencyKey } from "./transport.js";
export type { WatchOptions } from "./watch.js";
