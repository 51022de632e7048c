package admission

// At the end: errors as the contract has them.

import (
	"context"
	"errors"
	"maps"
	"strings"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/request"
)

// errorDomain is the domain of every ErrorInfo.
const errorDomain = "berth"

// maxViolations keeps an error within the size of trailers that proxies accept.
const maxViolations = 50

var codes = map[fault.Kind]connect.Code{
	fault.Internal:           connect.CodeInternal,
	fault.InvalidArgument:    connect.CodeInvalidArgument,
	fault.NotFound:           connect.CodeNotFound,
	fault.AlreadyExists:      connect.CodeAlreadyExists,
	fault.PermissionDenied:   connect.CodePermissionDenied,
	fault.Unauthenticated:    connect.CodeUnauthenticated,
	fault.FailedPrecondition: connect.CodeFailedPrecondition,
	fault.ResourceExhausted:  connect.CodeResourceExhausted,
	fault.Aborted:            connect.CodeAborted,
	fault.Unavailable:        connect.CodeUnavailable,
	fault.Canceled:           connect.CodeCanceled,
	fault.DeadlineExceeded:   connect.CodeDeadlineExceeded,
}

// encodeError returns the error that a client sees. An internal error reveals only the ID of the request, under which
// the log has the cause.
func encodeError(ctx context.Context, f *fault.Error) *connect.Error {
	message, metadata := f.Message, maps.Clone(f.Metadata)
	if f.Kind == fault.Internal {
		message = "Something went wrong. The request ID is " + request.ID(ctx) + "."
		metadata = map[string]string{"request_id": request.ID(ctx)}
	} else if f.Field != "" {
		if metadata == nil {
			metadata = make(map[string]string, 1)
		}
		metadata["field"] = f.Field
	}
	wire := connect.NewError(codes[f.Kind], &wireText{message, f})
	addDetail(wire, &errdetails.ErrorInfo{Domain: errorDomain, Reason: string(f.Reason), Metadata: metadata})
	if f.Reason == fault.InvalidField {
		addDetail(wire, violationsOf(f))
	}
	if f.Kind == fault.Unauthenticated {
		wire.Meta().Set("WWW-Authenticate", "Bearer")
	}
	if seconds := f.Metadata[fault.RetryAfter]; seconds != "" {
		wire.Meta().Set("Retry-After", seconds)
	}
	return wire
}

// wireText is the text of an error that a client sees. It wraps the fault, so that an encoded error is not encoded
// again.
type wireText struct {
	text  string
	fault *fault.Error
}

func (t *wireText) Error() string { return t.text }

func (t *wireText) Unwrap() error { return t.fault }

func addDetail(wire *connect.Error, message proto.Message) {
	// Marshalling fails on text that is not UTF-8. The error is then sent without the detail.
	if detail, err := connect.NewErrorDetail(message); err == nil {
		wire.AddDetail(detail)
	}
}

// faultOf returns the fault in an error, or the fault that stands for it. It returns nil for an error of Connect that
// has no counterpart.
func faultOf(ctx context.Context, err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if wire, ok := errors.AsType[*connect.Error](err); ok {
		return faultOfConnect(wire)
	}
	if f := engine.Outage(err); f != nil {
		return f
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return errCallerLeft.WithCause(err)
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return errTimeout.WithCause(err)
	}
	return errInternal.WithCause(err)
}

var (
	errInternal   = fault.New(fault.Internal, fault.InternalError, "Something went wrong.")
	errCallerLeft = fault.New(fault.Canceled, fault.CallerLeft, "The caller canceled the request.")
	// The change may have been made, so a retry needs the same idempotency key.
	errTimeout = fault.New(
		fault.DeadlineExceeded, fault.Timeout,
		"The request timed out. Try again, with the same idempotency key if it changes something.",
	)
)

// faultOfConnect returns the fault for an error that Connect itself made, which has no reason.
func faultOfConnect(wire *connect.Error) *fault.Error {
	switch wire.Code() {
	case connect.CodeInvalidArgument:
		return fault.New(fault.InvalidArgument, fault.InvalidField, "%s", wire.Message())
	case connect.CodeResourceExhausted:
		return fault.New(fault.ResourceExhausted, fault.TooLarge, "%s", wire.Message())
	case connect.CodeCanceled:
		return errCallerLeft.WithCause(wire)
	case connect.CodeDeadlineExceeded:
		return errTimeout.WithCause(wire)
	case connect.CodeUnimplemented:
		return nil
	default:
		return errInternal.WithCause(wire)
	}
}

// validationFault returns a fault for the first violation. The Violations detail has all of them. A rule on the whole
// request has the field in its ID: "update_series.session_id".
func validationFault(err *protovalidate.ValidationError) *fault.Error {
	first := err.Violations[0]
	field := protovalidate.FieldPathString(first.Proto.GetField())
	if field == "" {
		_, field, _ = strings.Cut(first.Proto.GetRuleId(), ".")
	}
	return fault.Invalid(field, "%s.", first).WithCause(err)
}

// violationsOf returns the Violations detail of a fault, whether protovalidate or a rule in Go found it.
func violationsOf(f *fault.Error) *validatepb.Violations {
	if found, ok := errors.AsType[*protovalidate.ValidationError](f); ok {
		first := protovalidate.ValidationError{Violations: found.Violations[:min(len(found.Violations), maxViolations)]}
		return first.ToProto()
	}
	violation := &validatepb.Violation{Message: new(f.Message)}
	if f.Field != "" {
		violation.Field = &validatepb.FieldPath{}
		for name := range strings.SplitSeq(f.Field, ".") {
			violation.Field.Elements = append(violation.Field.Elements, &validatepb.FieldPathElement{FieldName: new(name)})
		}
	}
	return &validatepb.Violations{Violations: []*validatepb.Violation{violation}}
}
