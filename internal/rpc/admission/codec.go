package admission

// Step 5: bytes become a message. The error of one that cannot be decoded is told in step 8.

import (
	"errors"
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
func codecs() connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithCodec(binaryCodec{}),
		connect.WithCodec(jsonCodec{"json"}),
		connect.WithCodec(jsonCodec{"json; charset=utf-8"}),
	)
}

// binaryCodec is a connect.Codec for the binary format.
type binaryCodec struct{}

func (binaryCodec) Name() string { return "proto" }

func (binaryCodec) Marshal(message any) ([]byte, error) {
	return binaryCodec{}.MarshalAppend(nil, message)
}

func (binaryCodec) MarshalAppend(to []byte, message any) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(to, message.(proto.Message))
}

func (binaryCodec) Unmarshal(data []byte, message any) error {
	m := message.(proto.Message)
	if err := proto.Unmarshal(data, m); err != nil {
		storeDecodeError(m, err)
	}
	return nil
}

// jsonCodec is a connect.Codec for JSON.
type jsonCodec struct{ name string }

func (c jsonCodec) Name() string { return c.name }

func (c jsonCodec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

func (jsonCodec) MarshalAppend(to []byte, message any) ([]byte, error) {
	return protojson.MarshalOptions{}.MarshalAppend(to, message.(proto.Message))
}

func (jsonCodec) Unmarshal(data []byte, message any) error {
	m := message.(proto.Message)
	err := protojson.Unmarshal(data, m)
	if len(data) == 0 {
		err = errors.New("the body is empty; send at least {}")
	}
	if err != nil {
		storeDecodeError(m, err)
	}
	return nil
}

// decodeErrorField is the unknown field that holds a decoding error: the highest number that a field can have. If a
// client sends it, its message is rejected as one that cannot be decoded.
const decodeErrorField = protowire.MaxValidNumber

func storeDecodeError(m proto.Message, reason error) {
	raw := protowire.AppendTag(nil, decodeErrorField, protowire.BytesType)
	m.ProtoReflect().SetUnknown(protowire.AppendString(raw, reason.Error()))
}

// decodeError returns the reason why a message could not be decoded, as INVALID_FIELD, or nil.
func decodeError(m proto.Message) error {
	raw := m.ProtoReflect().GetUnknown()
	number, _, n := protowire.ConsumeTag(raw)
	if number != decodeErrorField {
		return nil
	}
	text, _ := protowire.ConsumeBytes(raw[n:])
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
	const maxLength = 200 // the text quotes the request
	reason = strings.ToValidUTF8(reason, "")
	if len(reason) > maxLength {
		reason = strings.ToValidUTF8(reason[:maxLength], "") + "…"
	}
	f := fault.Invalid("", "The message cannot be read: %s.", reason)
	if found := invalidField.FindStringSubmatch(reason); found != nil {
		f = f.WithField(found[1] + found[2])
	}
	return f
}
