package admission

import (
	"net/http"
	"testing"

	"github.com/shoenig/test"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A procedure that is not in the contract is refused, before and after its message is read.
func TestChecks_RefuseUnlistedProcedures(t *testing.T) {
	t.Parallel()
	unlisted := &checks{rules: map[string]Rule{}}
	test.ErrorIs(t, unlisted.authenticate(t.Context(), Rule{}, http.Header{}), errUnknownProcedure)
	test.ErrorIs(t, unlisted.admit(t.Context(), "/berth.v1.Other/Call", &v1.BookRequest{}), errUnknownProcedure)
}

// A client can send the field that holds errors of decoding, with any content.
func TestDecodeError_SurvivesWhatClientsSend(t *testing.T) {
	t.Parallel()
	tag := func(kind protowire.Type) []byte { return protowire.AppendTag(nil, decodeErrorField, kind) }
	for name, unknown := range map[string][]byte{
		"a number":    protowire.AppendVarint(tag(protowire.VarintType), 7),
		"a text":      protowire.AppendString(tag(protowire.BytesType), "made up"),
		"a cut text":  append(tag(protowire.BytesType), 9, 'x'),
		"of another":  nil,
		"a cut field": {0xff},
	} {
		m := new(v1.BookRequest)
		m.ProtoReflect().SetUnknown(unknown)
		err := decodeError(m)
		if name == "of another" || name == "a cut field" {
			test.NoError(t, err, test.Sprint(name))
			continue
		}
		test.EqOp(t, fault.InvalidField, fault.ReasonOf(err), test.Sprint(name))
	}
}

// A message that contains itself has bounds, too.
func TestRequestLimits_EndForRecursiveMessages(t *testing.T) {
	t.Parallel()
	name, kind := "Node", ".test.Node"
	label, typ := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	number, field, syntax, pkg, file := int32(1), "next", "proto3", "test", "test.proto"
	described := expect.Value(protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: &file, Package: &pkg, Syntax: &syntax,
		MessageType: []*descriptorpb.DescriptorProto{{Name: &name, Field: []*descriptorpb.FieldDescriptorProto{{
			Name: &field, Number: &number, Label: &label, Type: &typ, TypeName: &kind,
		}}}},
	}, nil))(t)
	test.MapLen(t, 1, requestLimits(map[string]Rule{"/a": {request: described.Messages().Get(0)}}))
}
