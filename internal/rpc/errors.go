package rpc

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

// maxViolations keeps an error within what proxies take as trailers.
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

// encode puts a fault on the wire. An internal one says nothing but the id under
// which the log has its cause.
func encode(ctx context.Context, f *fault.Error) *connect.Error {
	message, metadata := f.Message, maps.Clone(f.Metadata)
	if f.Kind == fault.Internal {
		message = "Something went wrong. Its id is " + request.RequestID(ctx) + "."
		metadata = map[string]string{"request_id": request.RequestID(ctx)}
	} else if f.Field != "" {
		if metadata == nil {
			metadata = make(map[string]string, 1)
		}
		metadata["field"] = f.Field
	}
	wire := connect.NewError(codes[f.Kind], &sentence{message, f})
	attach(wire, &errdetails.ErrorInfo{Domain: errorDomain, Reason: string(f.Reason), Metadata: metadata})
	if f.Reason == fault.InvalidField {
		attach(wire, violationsOf(f))
	}
	if f.Kind == fault.Unauthenticated {
		wire.Meta().Set("WWW-Authenticate", "Bearer")
	}
	return wire
}

// sentence is the text of an error on the wire. It remembers the fault, so that
// an error which is encoded already is not encoded anew.
type sentence struct {
	text  string
	fault *fault.Error
}

func (s *sentence) Error() string { return s.text }

func (s *sentence) Unwrap() error { return s.fault }

func attach(wire *connect.Error, message proto.Message) {
	// Marshalling fails on texts that are no UTF-8; the error is then sent without the detail.
	if detail, err := connect.NewErrorDetail(message); err == nil {
		wire.AddDetail(detail)
	}
}

// faultOf finds the fault in an error, or the one that it amounts to. It gives
// nil for an error of Connect that has no counterpart here.
func faultOf(ctx context.Context, err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if own, ok := errors.AsType[*connect.Error](err); ok {
		return ownFault(own)
	}
	if f := engine.Outage(err); f != nil {
		return f
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return left.WithCause(err)
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return outOfTime.WithCause(err)
	}
	return broken.WithCause(err)
}

var (
	broken = fault.New(fault.Internal, fault.InternalError, "Something went wrong.")
	left   = fault.New(fault.Canceled, fault.CallerLeft, "The caller gave up.")
	// Whether the change was made is not known: it may have been, so a retry needs an idempotency key.
	outOfTime = fault.New(
		fault.DeadlineExceeded, fault.Timeout,
		"Out of time. Try again, with the same idempotency key if anything is to change.",
	)
)

// ownFault gives Connect's own errors a reason.
func ownFault(own *connect.Error) *fault.Error {
	switch own.Code() {
	case connect.CodeInvalidArgument:
		return fault.New(fault.InvalidArgument, fault.InvalidField, "%s", own.Message())
	case connect.CodeResourceExhausted:
		return fault.New(fault.ResourceExhausted, fault.TooLarge, "%s", own.Message())
	case connect.CodeCanceled:
		return left.WithCause(own)
	case connect.CodeDeadlineExceeded:
		return outOfTime.WithCause(own)
	case connect.CodeUnimplemented:
		return nil
	default:
		return broken.WithCause(own)
	}
}

// invalid names the first field that breaks its rule; the rest are in the Violations detail.
// A rule of the request as a whole has the field that it is about in its name: "update_series.session_id".
func invalid(err *protovalidate.ValidationError) *fault.Error {
	first := err.Violations[0]
	field := protovalidate.FieldPathString(first.Proto.GetField())
	if field == "" {
		_, field, _ = strings.Cut(first.Proto.GetRuleId(), ".")
	}
	return fault.Invalid(field, "%s.", first).WithCause(err)
}

// violationsOf tells about fields in protovalidate's words, whoever found them wrong.
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
