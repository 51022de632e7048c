package admission

// Step 9: how much each field may hold.

import (
	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// bound is the most that a field may hold.
type bound struct {
	items int // of a list
	bytes int // of a text or bytes, or of each in a list
}

// unruled are the bounds of fields without a rule in the contract.
var unruled = map[protoreflect.FullName]bound{
	// Types of others, which have no rules of ours.
	"google.protobuf.FieldMask.paths": {items: 100, bytes: 200},
	"google.type.Money.currency_code": {bytes: 3},
	// The pattern of the code has a length.
	"berth.v1.CreateBenefitProviderRequest.provider_code": {bytes: 50},
}

// limits are the bounds of fields.
type limits map[protoreflect.FieldDescriptor]bound

// requestLimits returns the bounds of all fields of requests. protovalidate finds all violations of a message, so the
// work for one would grow with its size. These are checked first, and the first one that is violated ends the check.
func requestLimits(rules map[string]Rule) limits {
	all, seen := make(limits), make(map[protoreflect.FullName]bool)
	var add func(protoreflect.MessageDescriptor)
	add = func(m protoreflect.MessageDescriptor) {
		if seen[m.FullName()] { // a message may contain itself
			return
		}
		seen[m.FullName()] = true
		for i := range m.Fields().Len() {
			field := m.Fields().Get(i)
			all[field] = boundOf(field)
			if field.Message() != nil {
				add(field.Message())
			}
		}
	}
	for _, rule := range rules {
		add(rule.request)
	}
	return all
}

// uuidBytes is the bound of IDs. It is longer than a UUID, so that the contract's rule says what is wrong with others.
const uuidBytes = 200

// boundOf returns the bound of a field by its rules in the contract, or 0 where it has none and needs one.
func boundOf(field protoreflect.FieldDescriptor) bound {
	if b, ok := unruled[field.FullName()]; ok {
		return b
	}
	rules, _ := proto.GetExtension(field.Options(), validatepb.E_Field).(*validatepb.FieldRules)
	var b bound
	if field.IsList() {
		b.items = int(rules.GetRepeated().GetMaxItems())
		rules = rules.GetRepeated().GetItems()
	}
	const runeBytes = 4 // the most that a character takes
	switch text, raw := rules.GetString(), rules.GetBytes(); {
	case text.GetUuid():
		b.bytes = uuidBytes
	case text != nil:
		b.bytes = max(
			runeBytes*int(max(text.GetMaxLen(), text.GetLen())), int(max(text.GetMaxBytes(), text.GetLenBytes())), longest(text),
		)
	case raw != nil:
		b.bytes = int(max(raw.GetMaxLen(), raw.GetLen()))
	}
	return b
}

// FieldBound returns the most that a field of a request may hold: elements of a list, and bytes of a text.
func FieldBound(field protoreflect.FieldDescriptor) (items, size int) {
	b := boundOf(field)
	return b.items, b.bytes
}

// longest returns the length of the longest of the texts that a rule allows.
func longest(rules *validatepb.StringRules) int {
	n := len(rules.GetConst())
	for _, text := range rules.GetIn() {
		n = max(n, len(text))
	}
	return n
}
