export { type BerthError, berthError } from "./error.js";
export { ErrorReason } from "./gen/berth/v1/error_pb.js";
