package rpc

import (
	"strings"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/berthhq/berth/internal/fault"
)

// checkStorable rejects values that no column can store, in any field: text with the character NUL, for which Postgres
// rejects the whole statement, and instants outside of the years 1 to 9999, which are not valid Timestamps. It rejects
// the nil UUID, too: nothing has this ID, and after this check a zero ID means that the field is not set.
func checkStorable(m protoreflect.Message, parent string) error {
	var err error
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		path := parent + string(field.Name())
		if !field.IsList() { // requests have no maps
			err = checkStorableValue(field, value, path)
			return err == nil
		}
		for i := 0; i < value.List().Len() && err == nil; i++ {
			err = checkStorableValue(field, value.List().Get(i), path)
		}
		return err == nil
	})
	return err
}

const nilUUID = "00000000-0000-0000-0000-000000000000"

func isUUIDField(field protoreflect.FieldDescriptor) bool {
	rules, _ := proto.GetExtension(field.Options(), validatepb.E_Field).(*validatepb.FieldRules)
	return rules.GetString().GetUuid() || rules.GetRepeated().GetItems().GetString().GetUuid()
}

func checkStorableValue(field protoreflect.FieldDescriptor, value protoreflect.Value, path string) error {
	switch field.Kind() {
	case protoreflect.StringKind:
		switch text := value.String(); {
		case strings.IndexByte(text, 0) >= 0:
			return fault.Invalid(path, "%s must not contain the character NUL.", path)
		case text == nilUUID && isUUIDField(field):
			return fault.Invalid(path, "%s must not be the nil UUID.", path)
		}
	case protoreflect.MessageKind:
		if at, ok := value.Message().Interface().(*timestamppb.Timestamp); ok && !at.IsValid() {
			return fault.Invalid(path, "%s must be a time in the years 1 to 9999.", path)
		}
		return checkStorable(value.Message(), path+".")
	default:
	}
	return nil
}
