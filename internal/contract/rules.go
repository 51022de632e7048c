package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// rulesOf returns the rules of a field in words, such as "required", "a UUID" and "up to 200 characters".
func rulesOf(field protoreflect.FieldDescriptor) []string {
	rules, _ := proto.GetExtension(field.Options(), validatepb.E_Field).(*validatepb.FieldRules)
	return wordsOf(rules, field)
}

func wordsOf(rules *validatepb.FieldRules, field protoreflect.FieldDescriptor) []string {
	var words []string
	if rules.GetRequired() {
		words = append(words, "required")
	}
	for _, rule := range rules.GetCel() {
		words = append(words, cmp.Or(rule.GetMessage(), rule.GetId()))
	}
	words = append(words, rules.GetCelExpression()...)
	typed := rules.ProtoReflect()
	of := typed.WhichOneof(typed.Descriptor().Oneofs().ByName("type"))
	if of == nil {
		return words
	}
	switch of.Name() {
	case "repeated":
		list := rules.GetRepeated()
		words = append(words, between(list.MinItems, list.MaxItems, "items")...)
		if list.GetUnique() {
			words = append(words, "each once")
		}
		if each := wordsOf(list.GetItems(), field); len(each) > 0 {
			words = append(words, "each: "+strings.Join(each, ", "))
		}
		return words
	case "map":
		all := rules.GetMap()
		words = append(words, between(all.MinPairs, all.MaxPairs, "entries")...)
		if keys := wordsOf(all.GetKeys(), field); len(keys) > 0 {
			words = append(words, "keys: "+strings.Join(keys, ", "))
		}
		if values := wordsOf(all.GetValues(), field); len(values) > 0 {
			words = append(words, "values: "+strings.Join(values, ", "))
		}
		return words
	case "string":
		text := rules.GetString()
		words = append(words, between(text.MinLen, text.MaxLen, "characters")...)
	}
	said := []protoreflect.Name{"min_len", "max_len"}
	constraints := typed.Get(of).Message()
	for i := range constraints.Descriptor().Fields().Len() {
		rule := constraints.Descriptor().Fields().Get(i)
		if !constraints.Has(rule) || of.Name() == "string" && slices.Contains(said, rule.Name()) {
			continue
		}
		words = append(words, ruleWords(rule, constraints.Get(rule), field))
	}
	return words
}

// between returns the words for a minimum and a maximum.
func between(low, high *uint64, of string) []string {
	switch {
	case low != nil && high != nil && *low == *high:
		return []string{fmt.Sprintf("%d %s", *low, of)}
	case low != nil && high != nil:
		return []string{fmt.Sprintf("%d to %d %s", *low, *high, of)}
	case low != nil:
		return []string{fmt.Sprintf("at least %d %s", *low, of)}
	case high != nil:
		return []string{fmt.Sprintf("up to %d %s", *high, of)}
	}
	return nil
}

// ruleWords returns the words for one rule of protovalidate.
func ruleWords(rule protoreflect.FieldDescriptor, value protoreflect.Value, field protoreflect.FieldDescriptor) string {
	switch rule.Name() {
	case "uuid":
		return "a UUID"
	case "email":
		return "an email address"
	case "uri":
		return "a URI"
	case "pattern":
		return fmt.Sprintf("matches `%s`", value.String())
	case "gt":
		return "more than " + valueWords(rule, value)
	case "gte":
		return "at least " + valueWords(rule, value)
	case "lt":
		return "less than " + valueWords(rule, value)
	case "lte":
		return "at most " + valueWords(rule, value)
	case "max_bytes":
		return "up to " + valueWords(rule, value) + " bytes"
	case "defined_only":
		return "a known value"
	case "not_in":
		if field.Enum() != nil {
			return "set"
		}
	}
	return strings.ReplaceAll(string(rule.Name()), "_", " ") + " " + valueWords(rule, value)
}

// valueWords returns a value of a rule as text: a message, such as a duration, in the form of JSON.
func valueWords(rule protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch {
	case rule.IsList():
		var all []string
		for i := range value.List().Len() {
			all = append(all, fmt.Sprint(value.List().Get(i).Interface()))
		}
		return strings.Join(all, ", ")
	case rule.Message() != nil:
		return strings.Trim(jsonOf(value.Message().Interface()), `"`)
	}
	return fmt.Sprint(value.Interface())
}
