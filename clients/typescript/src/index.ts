/**
 * Berth's services and messages, as the contract has them, and `berthError`, which tells why a
 * call was refused. A service becomes a client by `createClient` of `@connectrpc/connect`, over a
 * transport for Connect, gRPC or gRPC-Web.
 *
 * @packageDocumentation
 */

export { type BerthError, berthError, type Violation } from "./error.js";
export * from "./gen/berth/v1/access_pb.js";
export * from "./gen/berth/v1/access_service_pb.js";
export * from "./gen/berth/v1/analytics_pb.js";
export * from "./gen/berth/v1/analytics_service_pb.js";
export * from "./gen/berth/v1/audit_pb.js";
export * from "./gen/berth/v1/audit_service_pb.js";
export * from "./gen/berth/v1/booking_pb.js";
export * from "./gen/berth/v1/booking_service_pb.js";
export * from "./gen/berth/v1/check_in_service_pb.js";
export * from "./gen/berth/v1/common_pb.js";
export * from "./gen/berth/v1/credit_pb.js";
export * from "./gen/berth/v1/credit_service_pb.js";
export * from "./gen/berth/v1/error_pb.js";
export * from "./gen/berth/v1/event_pb.js";
export * from "./gen/berth/v1/event_service_pb.js";
export * from "./gen/berth/v1/member_pb.js";
export * from "./gen/berth/v1/member_service_pb.js";
export * from "./gen/berth/v1/role_pb.js";
export * from "./gen/berth/v1/session_pb.js";
export * from "./gen/berth/v1/session_service_pb.js";
export * from "./gen/berth/v1/tenant_pb.js";
export * from "./gen/berth/v1/tenant_service_pb.js";
export * from "./gen/berth/v1/waitlist_pb.js";
export * from "./gen/berth/v1/waitlist_service_pb.js";
