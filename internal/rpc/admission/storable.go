package admission

// Step 9: what no field may hold.

import (
	"strings"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"golang.org/x/text/unicode/norm"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/berthhq/berth/internal/fault"
)

// check rejects, in any field, lists and texts beyond their bounds and values that no column can store: text with the
// character NUL, for which Postgres rejects the whole statement, and instants outside of the years 1 to 9999, which are
// not valid Timestamps. It rejects the nil UUID, too: nothing has this ID, and after this check a zero ID means that
// the field is not set. Texts are composed: stored text is in Unicode's NFC (RFC 5198, section 3), so that what reads
// the same is the same.
func (l limits) check(m protoreflect.Message, parent string) error {
	var err error
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		path := parent + string(field.Name())
		b := l[field]
		if !field.IsList() { // requests have no maps
			if text, composed := compose(field, value); composed {
				value = text
				m.Set(field, value)
			}
			err = l.checkValue(field, value, path, b.bytes)
			return err == nil
		}
		if value.List().Len() > b.items {
			err = fault.Invalid(path, "%s must contain no more than %d items.", path, b.items)
			return false
		}
		for i := 0; i < value.List().Len() && err == nil; i++ {
			if text, composed := compose(field, value.List().Get(i)); composed {
				value.List().Set(i, text)
			}
			err = l.checkValue(field, value.List().Get(i), path, b.bytes)
		}
		return err == nil
	})
	return err
}

// compose returns a text in NFC, and whether it was another before.
func compose(field protoreflect.FieldDescriptor, value protoreflect.Value) (protoreflect.Value, bool) {
	if field.Kind() != protoreflect.StringKind || norm.NFC.IsNormalString(value.String()) {
		return value, false
	}
	return protoreflect.ValueOfString(norm.NFC.String(value.String())), true
}

const nilUUID = "00000000-0000-0000-0000-000000000000"

func isUUIDField(field protoreflect.FieldDescriptor) bool {
	rules, _ := proto.GetExtension(field.Options(), validatepb.E_Field).(*validatepb.FieldRules)
	return rules.GetString().GetUuid() || rules.GetRepeated().GetItems().GetString().GetUuid()
}

func (l limits) checkValue(
	field protoreflect.FieldDescriptor, value protoreflect.Value, path string, maxBytes int,
) error {
	switch field.Kind() {
	case protoreflect.StringKind:
		switch text := value.String(); {
		case len(text) > maxBytes:
			return fault.Invalid(path, "%s must be no longer than %d bytes.", path, maxBytes)
		case strings.IndexByte(text, 0) >= 0:
			return fault.Invalid(path, "%s must not contain the character NUL.", path)
		case text == nilUUID && isUUIDField(field):
			return fault.Invalid(path, "%s must not be the nil UUID.", path)
		}
	case protoreflect.BytesKind:
		if len(value.Bytes()) > maxBytes {
			return fault.Invalid(path, "%s must be no longer than %d bytes.", path, maxBytes)
		}
	case protoreflect.MessageKind:
		if at, ok := value.Message().Interface().(*timestamppb.Timestamp); ok && !at.IsValid() {
			return fault.Invalid(path, "%s must be a time in the years 1 to 9999.", path)
		}
		return l.check(value.Message(), path+".")
	default:
	}
	return nil
}
