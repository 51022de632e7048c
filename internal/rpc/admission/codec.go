package admission

// Step 5: bytes become a message. The error of one that cannot be decoded is told in step 8.

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/berthhq/berth/internal/fault"
)

// codecs returns codecs that differ from Connect's in two ways.
//
// JSON with an unknown field is rejected, because people write JSON by hand and misspell names. In binary an unknown
// field has no name and comes from a newer client, so it is ignored, as Protobuf intends.
//
// A message that cannot be decoded is passed on, with the reason in its unknown fields. Connect itself would reject it
// before any interceptor runs, and so without an error reason, a request ID or a count in the metrics.
//
// A message with more values than its fields may hold is not decoded.
func codecs(limits decodeLimits) connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithCodec(binaryCodec{limits}),
		connect.WithCodec(jsonCodec{"json", limits}),
		connect.WithCodec(jsonCodec{"json; charset=utf-8", limits}),
	)
}

// binaryCodec is a connect.Codec for the binary format.
type binaryCodec struct{ limits decodeLimits }

func (binaryCodec) Name() string { return "proto" }

func (c binaryCodec) Marshal(message any) ([]byte, error) {
	return c.MarshalAppend(nil, message)
}

func (binaryCodec) MarshalAppend(to []byte, message any) ([]byte, error) {
	m, err := protoMessage(message)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{}.MarshalAppend(to, m)
}

func (c binaryCodec) Unmarshal(data []byte, message any) error {
	m, err := protoMessage(message)
	if err != nil {
		return err
	}
	request := m.ProtoReflect().Descriptor()
	if err = c.limits.count(request).binary(data, request, 0); err == nil {
		err = proto.Unmarshal(data, m)
	}
	if err != nil {
		storeDecodeError(m, err)
	}
	return nil
}

// jsonCodec is a connect.Codec for JSON.
type jsonCodec struct {
	name   string
	limits decodeLimits
}

func (c jsonCodec) Name() string { return c.name }

func (c jsonCodec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

func (jsonCodec) MarshalAppend(to []byte, message any) ([]byte, error) {
	m, err := protoMessage(message)
	if err != nil {
		return nil, err
	}
	return protojson.MarshalOptions{}.MarshalAppend(to, m)
}

func (c jsonCodec) Unmarshal(data []byte, message any) error {
	m, err := protoMessage(message)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		err = errors.New("the body is empty; send at least {}")
	} else if err = c.limits.count(m.ProtoReflect().Descriptor()).json(data); err == nil {
		err = protojson.Unmarshal(data, m)
	}
	if err != nil {
		storeDecodeError(m, err)
	}
	return nil
}

func protoMessage(message any) (proto.Message, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("rpc: %T is not a message", message)
	}
	return m, nil
}

// decodeErrorField is the unknown field that holds a decoding error: the highest number that a field can have. If a
// client sends it, its message is rejected as one that cannot be decoded.
const decodeErrorField = protowire.MaxValidNumber

func storeDecodeError(m proto.Message, reason error) {
	text := reason.Error()
	if f, ok := errors.AsType[*fault.Error](reason); ok {
		text = f.Field + "\x00" + f.Message
	}
	raw := protowire.AppendTag(nil, decodeErrorField, protowire.BytesType)
	m.ProtoReflect().SetUnknown(protowire.AppendString(raw, text))
}

// decodeError returns the reason why a message could not be decoded, as INVALID_FIELD, or nil.
func decodeError(m proto.Message) error {
	raw := m.ProtoReflect().GetUnknown()
	number, kind, n := protowire.ConsumeTag(raw)
	if n < 0 || number != decodeErrorField { // an error, also for no bytes, is a negative length
		return nil
	}
	if kind != protowire.BytesType {
		return undecodableFault(fmt.Sprintf("the field %d is reserved", number))
	}
	text, n := protowire.ConsumeBytes(raw[n:])
	if n < 0 {
		return undecodableFault(protowire.ParseError(n).Error())
	}
	if field, message, ok := strings.Cut(string(text), "\x00"); ok {
		return fault.Invalid(clip(field), "%s", clip(message))
	}
	return undecodableFault(string(text))
}

// These match the field's name in errors of protojson, which does not promise stable texts. A test checks them.
var (
	unknownField = regexp.MustCompile(`unknown field "([^"]{1,200})"`)
	invalidField = regexp.MustCompile(`(?:for|in) \S+ field (\w{1,200}):|duplicate field "([^"]{1,200})"`)
)

func undecodableFault(reason string) *fault.Error {
	if found := unknownField.FindStringSubmatch(reason); found != nil {
		return fault.Invalid(found[1], "There is no field %q.", found[1])
	}
	reason = clip(reason)
	f := fault.Invalid("", "The message cannot be read: %s.", reason)
	if found := invalidField.FindStringSubmatch(reason); found != nil {
		f = f.WithField(found[1] + found[2])
	}
	return f
}

// clip shortens a text that quotes a request, which may have any bytes.
func clip(text string) string {
	const maxLength = 200
	text = strings.ToValidUTF8(text, "")
	if len(text) > maxLength {
		text = strings.ToValidUTF8(text[:maxLength], "") + "…"
	}
	return text
}
