package admission

// Step 5: how many values a message has. They are counted before it is decoded, because an empty message takes two
// bytes on the wire and some hundred in memory.

import (
	"bytes"
	"cmp"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/berthhq/berth/internal/fault"
)

const (
	// maxDepth is how deep messages may be inside each other. Those of the contract are six deep at most.
	maxDepth = 20
	// spareValues may come on top of those at the bounds of all fields: unknown fields of newer clients, and fields that
	// are sent again, of which the last counts.
	spareValues = 100
	// valueBytes is what a decoded value takes in memory beside its text: those of lists are small messages at most.
	valueBytes = 128
)

// A decodeLimit is what a message may have, so that decoding costs no more than what its bounds allow.
type decodeLimit struct {
	values int
	// masks has the names in JSON of fields that are field masks: one text there is many values.
	masks map[string]bool
}

// decodeLimits has the limits of all requests by their message. Others may have nothing.
type decodeLimits map[protoreflect.FullName]decodeLimit

func newDecodeLimits(rules map[string]Rule) decodeLimits {
	all := make(decodeLimits)
	for _, rule := range rules {
		limit := decodeLimit{masks: make(map[string]bool)}
		limit.values = limit.valuesOf(rule.request, maxDepth) + spareValues
		all[rule.request.FullName()] = limit
	}
	return all
}

// count begins a count of the values of a message.
func (l decodeLimits) count(m protoreflect.MessageDescriptor) *valueCount {
	return &valueCount{decodeLimit: l[m.FullName()]}
}

// valueLimit returns how many values a request may have; other services than those of the contract have no lists.
func (c *Chain) valueLimit(r Rule) int {
	if r.request == nil {
		return 0
	}
	return c.values[r.request.FullName()].values
}

const fieldMask = protoreflect.FullName("google.protobuf.FieldMask")

// valuesOf returns how many values a message has, if all of its fields are at their bounds.
func (l decodeLimit) valuesOf(m protoreflect.MessageDescriptor, depth int) int {
	n := 0
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		each := 1
		if inner := field.Message(); inner != nil && depth > 0 {
			each += l.valuesOf(inner, depth-1)
			if inner.FullName() == fieldMask {
				l.masks[field.JSONName()], l.masks[field.TextName()] = true, true
			}
		}
		if field.IsList() {
			each = each*boundOf(field).items + 1 // the list is a value of its own in JSON
		}
		n += each
	}
	return n
}

// valueCount counts the values of one message.
type valueCount struct {
	decodeLimit

	field []byte // of the message itself, in which the count is
}

// add counts n values, and returns an error if that is too much.
func (c *valueCount) add(n int) error {
	if c.values -= n; c.values >= 0 {
		return nil
	}
	return c.tooMany()
}

func (c *valueCount) tooMany() error {
	return fault.Invalid(string(c.field), "%s has more values than it may hold.", cmp.Or(string(c.field), "The message"))
}

// binary counts the values of a message in the binary format. It leaves what is malformed to the decoder.
func (c *valueCount) binary(data []byte, m protoreflect.MessageDescriptor, depth int) error {
	if depth > maxDepth {
		return c.tooMany()
	}
	for len(data) > 0 {
		number, kind, tag := protowire.ConsumeTag(data)
		if tag < 0 {
			return nil
		}
		size := protowire.ConsumeFieldValue(number, kind, data[tag:])
		if size < 0 {
			return nil
		}
		value := data[tag : tag+size]
		data = data[tag+size:]
		field := m.Fields().ByNumber(number)
		if depth == 0 && field != nil {
			c.field = []byte(field.Name())
		}
		n := 1
		if field != nil && field.IsList() && kind == protowire.BytesType {
			n = max(1, packed(field.Kind(), value))
		}
		if err := c.add(n); err != nil {
			return err
		}
		if field == nil || kind != protowire.BytesType || field.Message() == nil {
			continue
		}
		inner, n := protowire.ConsumeBytes(value)
		if n < 0 {
			return nil
		}
		if err := c.binary(inner, field.Message(), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// packed returns how many numbers are in a value of a list of numbers: the last byte of each varint is below 0x80.
func packed(kind protoreflect.Kind, value []byte) int {
	numbers, n := protowire.ConsumeBytes(value)
	if n < 0 {
		return 0
	}
	switch kind {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind, protoreflect.GroupKind:
		return 0
	default: // four bytes of a fixed number count as many, which is too many rather than too few
		count := 0
		for _, b := range numbers {
			if b < 0x80 {
				count++
			}
		}
		return count
	}
}

// maxNameBytes is longer than every name of a field.
const maxNameBytes = 64

// json counts the values of a message in JSON: each member of an object and each element of an array. It leaves what is
// malformed to the decoder, which stops there as well.
func (c *valueCount) json(data []byte) error {
	depth := 0
	var name, last []byte
	for i := 0; i < len(data); i++ {
		n := 0
		switch data[i] {
		case '{', '[':
			if depth++; depth > 2*maxDepth { // a list of messages is two deep
				return c.tooMany()
			}
			n = 1
		case '}', ']':
			depth--
		case ',':
			n = 1
		case ':':
			if name = last; depth == 1 {
				c.field = name
			}
		case '"':
			text := text(data[i+1:])
			i += 1 + len(text)
			if last = text[:min(len(text), maxNameBytes)]; c.mayBeMask(name) {
				n = bytes.Count(text, []byte(","))
			}
		}
		if err := c.add(n); err != nil {
			return err
		}
	}
	return nil
}

// mayBeMask reports whether a name, as it is written, may be that of a field mask. One with an escape may be any.
func (c *valueCount) mayBeMask(name []byte) bool {
	return c.masks[string(name)] || bytes.IndexByte(name, '\\') >= 0
}

// text returns a text in JSON, from after its first quote to before its last, with its escapes.
func text(data []byte) []byte {
	for end := 0; end < len(data); end++ {
		switch data[end] {
		case '"':
			return data[:end]
		case '\\':
			end++
		}
	}
	return data
}
