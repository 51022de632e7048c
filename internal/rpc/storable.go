package rpc

import (
	"strings"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/berthhq/berth/internal/fault"
)

// storable refuses what no column can keep, whatever the field: a text with the
// character NUL, at which Postgres gives the whole statement up, and an instant
// outside the years 1 to 9999, which is no Timestamp. The nil UUID is refused as well: it names
// nothing, and behind this door a zero id means that none was given.
func storable(m protoreflect.Message, parent string) error {
	var refused error
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		path := parent + string(field.Name())
		if !field.IsList() { // requests have no maps
			refused = storableValue(field, value, path)
			return refused == nil
		}
		for i := 0; i < value.List().Len() && refused == nil; i++ {
			refused = storableValue(field, value.List().Get(i), path)
		}
		return refused == nil
	})
	return refused
}

const nilUUID = "00000000-0000-0000-0000-000000000000"

func holdsID(field protoreflect.FieldDescriptor) bool {
	rules, _ := proto.GetExtension(field.Options(), validatepb.E_Field).(*validatepb.FieldRules)
	return rules.GetString().GetUuid() || rules.GetRepeated().GetItems().GetString().GetUuid()
}

func storableValue(field protoreflect.FieldDescriptor, value protoreflect.Value, path string) error {
	switch field.Kind() {
	case protoreflect.StringKind:
		switch text := value.String(); {
		case strings.IndexByte(text, 0) >= 0:
			return fault.Invalid(path, "%s must not contain the character NUL.", path)
		case text == nilUUID && holdsID(field):
			return fault.Invalid(path, "%s must not be the nil UUID.", path)
		}
	case protoreflect.MessageKind:
		if at, ok := value.Message().Interface().(*timestamppb.Timestamp); ok && !at.IsValid() {
			return fault.Invalid(path, "%s is no time of the years 1 to 9999.", path)
		}
		return storable(value.Message(), path+".")
	default:
	}
	return nil
}
