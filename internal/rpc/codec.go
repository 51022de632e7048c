package rpc

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

// The codecs differ from Connect's in two ways.
//
// JSON with a field that the contract lacks is refused: whoever writes JSON by
// hand wants to hear of a misspelt name. In binary an unknown field has no name
// and is what a newer client sends, so it is ignored, as Protobuf means it to be.
//
// A message that cannot be decoded is handed on all the same, with the reason in
// place of its unknown fields. Connect would answer it by itself, before any interceptor runs,
// and so without a reason, an id or a trace in the metrics.
func codecs() connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithCodec(binaryCodec{}),
		connect.WithCodec(jsonCodec{"json"}),
		connect.WithCodec(jsonCodec{"json; charset=utf-8"}),
	)
}

type binaryCodec struct{}

func (binaryCodec) Name() string { return "proto" }

func (binaryCodec) Marshal(message any) ([]byte, error) {
	return binaryCodec{}.MarshalAppend(nil, message)
}

func (binaryCodec) MarshalAppend(to []byte, message any) ([]byte, error) {
	m, err := protoMessage(message)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{}.MarshalAppend(to, m)
}

func (binaryCodec) Unmarshal(data []byte, message any) error {
	m, err := protoMessage(message)
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(data, m); err != nil {
		keepUndecoded(m, err)
	}
	return nil
}

type jsonCodec struct{ name string }

func (c jsonCodec) Name() string { return c.name }

func (c jsonCodec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

func (jsonCodec) MarshalAppend(to []byte, message any) ([]byte, error) {
	m, err := protoMessage(message)
	if err != nil {
		return nil, err
	}
	return protojson.MarshalOptions{}.MarshalAppend(to, m)
}

func (jsonCodec) Unmarshal(data []byte, message any) error {
	m, err := protoMessage(message)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		err = errors.New("the body is empty; the least is {}")
	} else {
		err = protojson.Unmarshal(data, m)
	}
	if err != nil {
		keepUndecoded(m, err)
	}
	return nil
}

func protoMessage(message any) (proto.Message, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", message)
	}
	return m, nil
}

// undecodedField is the highest number that a field can have. A client that
// sends it itself is told that its message cannot be read, and it cannot.
const undecodedField = protowire.MaxValidNumber

func keepUndecoded(m proto.Message, reason error) {
	raw := protowire.AppendTag(nil, undecodedField, protowire.BytesType)
	m.ProtoReflect().SetUnknown(protowire.AppendString(raw, reason.Error()))
}

// undecoded gives the reason why a message could not be decoded, as INVALID_FIELD.
func undecoded(m proto.Message) error {
	raw := m.ProtoReflect().GetUnknown()
	if len(raw) == 0 {
		return nil
	}
	number, kind, n := protowire.ConsumeTag(raw)
	if number != undecodedField || kind != protowire.BytesType {
		return nil
	}
	text, _ := protowire.ConsumeBytes(raw[n:])
	return unreadable(string(text))
}

// protojson names the field like this; it promises nothing about its texts, so a
// test holds it to them.
var (
	unknownField = regexp.MustCompile(`unknown field "([^"]{1,200})"`)
	invalidField = regexp.MustCompile(`(?:for|in) \S+ field (\w{1,200}):|duplicate field "([^"]{1,200})"`)
)

func unreadable(reason string) *fault.Error {
	if found := unknownField.FindStringSubmatch(reason); found != nil {
		return fault.Invalid(found[1], "There is no field %q.", found[1])
	}
	const most = 200 // the text quotes the request
	reason = strings.ToValidUTF8(reason, "")
	if len(reason) > most {
		reason = strings.ToValidUTF8(reason[:most], "") + "…"
	}
	f := fault.Invalid("", "The message cannot be read: %s.", reason)
	if found := invalidField.FindStringSubmatch(reason); found != nil {
		f = f.WithField(found[1] + found[2])
	}
	return f
}
