package main

import (
	"slices"
	"strings"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// fieldRef is the path to a field of a message. In a list it is the first element.
type fieldRef []protoreflect.FieldDescriptor

func (f fieldRef) String() string {
	names := make([]string, len(f))
	for i, field := range f {
		names[i] = string(field.Name())
	}
	return strings.Join(names, ".")
}

func (f fieldRef) leaf() protoreflect.FieldDescriptor { return f[len(f)-1] }

// messageKind is the name of the message type of the field, or "".
func (f fieldRef) messageKind() protoreflect.FullName {
	if f.leaf().Kind() != protoreflect.MessageKind {
		return ""
	}
	return f.leaf().Message().FullName()
}

// fieldRefsOf lists the places of a message type. Messages of other packages count as values.
func fieldRefsOf(d protoreflect.MessageDescriptor) []fieldRef {
	var all []fieldRef
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		if field.Kind() != protoreflect.MessageKind || field.Message().ParentFile().Package() != "berth.v1" {
			all = append(all, fieldRef{field})
			continue
		}
		all = append(all, fieldRef{field}) // the message as a whole
		for _, inner := range fieldRefsOf(field.Message()) {
			all = append(all, append(fieldRef{field}, inner...))
		}
	}
	return all
}

// isID reports whether the field is a UUID.
func (f fieldRef) isID() bool {
	rules, _ := proto.GetExtension(f.leaf().Options(), validatepb.E_Field).(*validatepb.FieldRules)
	return rules.GetString().GetUuid() || rules.GetRepeated().GetItems().GetString().GetUuid()
}

// get returns the value of the field; false if it is not set.
func (f fieldRef) get(m proto.Message) (protoreflect.Value, bool) {
	at := m.ProtoReflect()
	for i, field := range f {
		if !at.Has(field) {
			return protoreflect.Value{}, false
		}
		value := at.Get(field)
		if field.IsList() {
			value = value.List().Get(0)
		}
		if i == len(f)-1 {
			return value, true
		}
		at = value.Message()
	}
	return protoreflect.Value{}, false
}

// holder returns the message that contains the field, and creates it if necessary.
func (f fieldRef) holder(m proto.Message) protoreflect.Message {
	at := m.ProtoReflect()
	for _, field := range f[:len(f)-1] {
		switch {
		case !field.IsList():
			at = at.Mutable(field).Message()
		case at.Get(field).List().Len() > 0:
			at = at.Get(field).List().Get(0).Message()
		default:
			at = at.Mutable(field).List().AppendMutable().Message()
		}
	}
	return at
}

// with returns a copy with these values in the field. In a list they are the only elements.
func (f fieldRef) with(m proto.Message, values ...protoreflect.Value) proto.Message {
	clone := proto.Clone(m)
	at := f.holder(clone)
	if !f.leaf().IsList() {
		at.Set(f.leaf(), values[0])
		return clone
	}
	list := at.NewField(f.leaf()).List()
	for _, value := range values {
		list.Append(value)
	}
	at.Set(f.leaf(), protoreflect.ValueOfList(list))
	return clone
}

// without returns a copy without the field.
func (f fieldRef) without(m proto.Message) proto.Message {
	clone := proto.Clone(m)
	f.holder(clone).Clear(f.leaf())
	return clone
}

// isEditable reports whether the mask of an edit may name the field. Others are set by the creation alone, and an edit
// does not read them. Fields of requests without a mask can be set.
func (f fieldRef) isEditable() bool {
	mask := f[0].ContainingMessage().Fields().ByName("update_mask")
	if len(f) < 2 || mask == nil || !strings.HasSuffix(string(f[0].Message().Name()), "Input") {
		return true
	}
	rules, _ := proto.GetExtension(mask.Options(), validatepb.E_Field).(*validatepb.FieldRules)
	in := rules.GetFieldMask().GetIn()
	return len(in) == 0 || slices.ContainsFunc(in, func(path string) bool {
		return path == string(f[1].Name()) || strings.HasPrefix(path, string(f[1].Name())+".")
	})
}
