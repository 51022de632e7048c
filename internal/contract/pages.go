package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// A book is the documentation of a contract: a page for each topic, with the service and the messages of a concept.
type book struct {
	contract  *contract
	exchanges []exchange
	callers   map[string][]string // by reason: the RPCs whose comments name it
}

// pages returns the files of the documentation, by name.
func pages(c *contract, exchanges []exchange) map[string]string {
	b := &book{c, exchanges, make(map[string][]string)}
	each(c, func(m protoreflect.MethodDescriptor) {
		for _, cause := range c.rpcOf(m).causes {
			b.callers[cause] = append(b.callers[cause], fmt.Sprintf("[%s](%s)", shortName(m), b.link(m, "")))
		}
	})
	all := make(map[string]string)
	for _, file := range c.files {
		all[pageOf(file)] += "" // services come before messages, whatever the order of the files
	}
	for name := range all {
		all[name] = b.page(name)
	}
	all["README.md"] = b.index(slices.Sorted(maps.Keys(all)))
	return all
}

const generated = "<!-- Written by make generate from proto/berth/v1 and the recordings of the server's tests. -->\n\n"

// pageOf returns the page of a file: a service and the messages of its concept share one.
func pageOf(file protoreflect.FileDescriptor) string {
	topic := strings.TrimSuffix(strings.TrimSuffix(path.Base(file.Path()), ".proto"), "_service")
	return strings.ReplaceAll(topic, "_", "-") + ".md"
}

func titleOf(page string) string {
	title := strings.ReplaceAll(strings.TrimSuffix(page, ".md"), "-", " ")
	return strings.ToUpper(title[:1]) + title[1:]
}

// link returns the link to a descriptor from a page.
func (b *book) link(d protoreflect.Descriptor, from string) string {
	page := pageOf(d.ParentFile())
	if page == from {
		page = ""
	}
	return page + "#" + strings.ToLower(string(d.Name()))
}

func (b *book) page(name string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s# %s\n", generated, titleOf(name))
	var files []protoreflect.FileDescriptor
	for _, file := range b.contract.files {
		if pageOf(file) == name {
			files = append(files, file)
		}
	}
	for _, file := range files {
		for i := range file.Services().Len() {
			b.service(&text, file.Services().Get(i))
		}
	}
	for _, file := range files {
		walk(file, func(d protoreflect.Descriptor) {
			switch d := d.(type) {
			case protoreflect.MessageDescriptor:
				if !isRequest(d) && !isResponse(d) {
					fmt.Fprintf(&text, "\n## %s\n\n%s\n", d.Name(), b.contract.comment(d))
					b.fields(&text, d)
				}
			case protoreflect.EnumDescriptor:
				switch d.Name() {
				case "ErrorReason":
					b.reasons(&text, d)
				case "EventType":
					b.events(&text, d)
				default:
					fmt.Fprintf(&text, "\n## %s\n\n%s\n", d.Name(), b.contract.comment(d))
					b.values(&text, d)
				}
			}
		})
	}
	return text.String()
}

func isRequest(m protoreflect.MessageDescriptor) bool {
	return strings.HasSuffix(string(m.Name()), "Request")
}
func isResponse(m protoreflect.MessageDescriptor) bool {
	return strings.HasSuffix(string(m.Name()), "Response")
}

func (b *book) service(text *strings.Builder, s protoreflect.ServiceDescriptor) {
	fmt.Fprintf(text, "\n%s\n\n", b.contract.comment(s))
	for i := range s.Methods().Len() {
		m := s.Methods().Get(i)
		fmt.Fprintf(text, "- [%s](#%s)\n", m.Name(), strings.ToLower(string(m.Name())))
	}
	for i := range s.Methods().Len() {
		b.method(text, s.Methods().Get(i))
	}
}

func (b *book) method(text *strings.Builder, m protoreflect.MethodDescriptor) {
	doc := b.contract.rpcOf(m)
	fmt.Fprintf(text, "\n## %s\n\n`POST /%s/%s`", m.Name(), m.Parent().FullName(), m.Name())
	options, _ := m.Options().(*descriptorpb.MethodOptions)
	if options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS && !m.IsStreamingServer() {
		text.WriteString(" · also GET")
	}
	if m.IsStreamingServer() {
		text.WriteString(" · a stream of responses")
	}
	fmt.Fprintf(text, "\n\n%s\n\n%s\n", doc.text, whoMay(accessOf(m)))
	if doc.order != "" {
		fmt.Fprintf(text, "\n**Order:** %s\n", doc.order)
	}
	if doc.repeated != "" {
		fmt.Fprintf(text, "\n**Repeated:** %s\n", b.linkedReasons(doc.repeated))
	}
	if doc.errors != "" {
		fmt.Fprintf(text, "\n**Errors:** %s\n", b.linkedReasons(doc.errors))
	}
	text.WriteString("\n**Request**\n")
	b.fields(text, m.Input())
	text.WriteString("\n**Response**\n")
	b.fields(text, m.Output())
	if e, ok := b.exampleOf(m); ok {
		fmt.Fprintf(text, "\n**Example**\n\n```json\n%s\n```\n\n```json\n%s\n```\n", pretty(e.request), pretty(e.answer))
	}
}

// whoMay says who may call an RPC.
func whoMay(a *v1.Access) string {
	var text string
	switch a.GetRule() {
	case v1.Access_RULE_PERMISSION:
		text = fmt.Sprintf("**Who:** callers with the permission `%s`.", a.GetPermission())
	case v1.Access_RULE_SELF:
		text = "**Who:** every active member, for what is their own"
		if a.GetServiceAccounts() {
			text = "**Who:** every active member and service account, for what is their own"
		}
		if a.GetPermission() != "" {
			text += fmt.Sprintf("; with the permission `%s`, for everyone's", a.GetPermission())
		}
		text += "."
	case v1.Access_RULE_TOKEN:
		text = "**Who:** every person with a token for the tenant, members or not."
	case v1.Access_RULE_PUBLIC:
		text = "**Who:** everyone. No token is needed."
	case v1.Access_RULE_UNSPECIFIED: // no RPC has it: the server would not start
	}
	if a.GetStepUp() {
		text += " The tenant can ask for a recent or stronger sign-in."
	}
	if a.GetDeprecatedSince() != "" {
		text += fmt.Sprintf(" **Deprecated** since %s.", a.GetDeprecatedSince())
	}
	return text
}

// linkedReasons links the reasons in a text to the page of reasons.
func (b *book) linkedReasons(text string) string {
	return reason.ReplaceAllStringFunc(text, func(word string) string {
		if _, ok := v1.ErrorReason_value[reasonPrefix+word]; !ok {
			return word
		}
		return fmt.Sprintf("[%s](error.md#%s)", word, strings.ToLower(word))
	})
}

func (b *book) fields(text *strings.Builder, m protoreflect.MessageDescriptor) {
	if m.Fields().Len() == 0 {
		text.WriteString("\nNo fields.\n")
		return
	}
	text.WriteString("\n| field | type | |\n|---|---|---|\n")
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		words := cell(b.contract.comment(field))
		if rules := rulesOf(field); len(rules) > 0 {
			words += " *" + strings.ReplaceAll(cell(strings.Join(rules, "; ")), "*", `\*`) + "*"
		}
		if one := field.ContainingOneof(); one != nil && !one.IsSynthetic() {
			words = fmt.Sprintf("(one of `%s`) %s", one.Name(), words)
		}
		fmt.Fprintf(text, "| `%s` | %s | %s |\n", field.Name(), b.typeOf(field, pageOf(m.ParentFile())), words)
	}
}

// cell returns a text as it can be in a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n\n", "<br>", "\n", "<br>").Replace(text)
}

func (b *book) typeOf(field protoreflect.FieldDescriptor, page string) string {
	if field.IsMap() {
		return fmt.Sprintf("map of %s to %s", field.MapKey().Kind(), b.typeOf(field.MapValue(), page))
	}
	var name string
	switch {
	case field.Message() != nil:
		name = b.typeLink(field.Message(), page)
	case field.Enum() != nil:
		name = b.typeLink(field.Enum(), page)
	default:
		name = field.Kind().String()
	}
	switch {
	case field.IsList():
		name = "list of " + name
	case field.HasOptionalKeyword():
		name = "optional " + name
	}
	return name
}

func (b *book) typeLink(d protoreflect.Descriptor, page string) string {
	if d.ParentFile().Package() != "berth.v1" {
		return strings.TrimPrefix(string(d.FullName()), "google.protobuf.")
	}
	return fmt.Sprintf("[%s](%s)", d.Name(), b.link(d, page))
}

func (b *book) values(text *strings.Builder, e protoreflect.EnumDescriptor) {
	text.WriteString("\n| value | |\n|---|---|\n")
	for i := range e.Values().Len() {
		value := e.Values().Get(i)
		fmt.Fprintf(text, "| `%s` | %s |\n", value.Name(), cell(b.contract.comment(value)))
	}
}

// reasons writes what each reason of an error means, who gives it, and an error that has it.
func (b *book) reasons(text *strings.Builder, e protoreflect.EnumDescriptor) {
	fmt.Fprintf(text, "\n## %s\n\n%s\n", e.Name(), b.contract.comment(e))
	for i := range e.Values().Len() {
		value := e.Values().Get(i)
		name := strings.TrimPrefix(string(value.Name()), reasonPrefix)
		code := b.contract.codeOf(value)
		if code == "" {
			continue // it is never sent
		}
		fmt.Fprintf(text, "\n### %s\n\n`%s`", name, code)
		fmt.Fprintf(text, ":%s\n", strings.TrimPrefix(b.contract.comment(value), code+":"))
		if callers := b.callers[name]; len(callers) > 0 {
			fmt.Fprintf(text, "\nFrom %s.\n", strings.Join(callers, ", "))
		}
		if at := slices.IndexFunc(b.exchanges, func(e exchange) bool { return e.reason == name }); at >= 0 {
			failed := b.exchanges[at]
			example := members{{"code", failed.code}, {"message", failed.message}, {"reason", failed.reason}}
			if failed.metadata != nil {
				var metadata members
				for _, key := range slices.Sorted(maps.Keys(failed.metadata)) {
					metadata = append(metadata, member{key, failed.metadata[key]})
				}
				example = append(example, member{"metadata", metadata})
			}
			fmt.Fprintf(text, "\n```json\n%s\n```\n", pretty(example))
		}
	}
}

// events writes what each type of event means, and one that happened.
func (b *book) events(text *strings.Builder, e protoreflect.EnumDescriptor) {
	fmt.Fprintf(text, "\n## %s\n\n%s\n", e.Name(), b.contract.comment(e))
	best := make(map[string]members)
	for _, one := range b.exchanges {
		for _, event := range eventsIn(one.answer) {
			kind, _ := event.get("type").(string)
			if len(event) > len(best[kind]) {
				best[kind] = event
			}
		}
	}
	for i := range e.Values().Len() {
		value := e.Values().Get(i)
		fmt.Fprintf(text, "\n### %s\n\n%s\n", value.Name(), b.contract.comment(value))
		if event := best[string(value.Name())]; event != nil {
			fmt.Fprintf(text, "\n```json\n%s\n```\n", pretty(event))
		}
	}
}

// longestExample is the most lines that an answer may have to be an example, if there is a shorter one.
const longestExample = 60

// exampleOf returns a recorded call of an RPC: the one that shows most, of those that fit on a screen.
func (b *book) exampleOf(m protoreflect.MethodDescriptor) (exchange, bool) {
	var best exchange
	most := -1
	for _, e := range b.exchanges {
		if e.rpc != shortName(m) || e.reason != "" || e.answer == nil {
			continue
		}
		lines := strings.Count(pretty(e.request)+pretty(e.answer), "\n")
		if lines > longestExample {
			lines = longestExample - lines // still better than none
		}
		if most == -1 || lines > most {
			best, most = e, lines
		}
	}
	return best, best.rpc != ""
}

func pretty(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func (b *book) index(names []string) string {
	var text strings.Builder
	text.WriteString(generated + `# The API

Every RPC, message, reason and event of the contract, as the tests of the server record them. Calls work over Connect,
gRPC and gRPC-Web on one port. As JSON, an RPC is a POST to ` + "`/berth.v1.<Service>/<Method>`" + ` with
` + "`Content-Type: application/json`" + ` and ` + "`Authorization: Bearer <token>`" + `; names of fields are in
lowerCamelCase, times are RFC 3339 in UTC, and fields that are zero are left out. Ids in examples are made up.

- [Errors](error.md): each reason, its code and its metadata
- [Events](event.md): what is told to those who watch

| page | RPCs |
|---|---|
`)
	for _, name := range names {
		var rpcs []string
		for _, file := range b.contract.files {
			if pageOf(file) != name {
				continue
			}
			for i := range file.Services().Len() {
				methods := file.Services().Get(i).Methods()
				for j := range methods.Len() {
					rpcs = append(rpcs, fmt.Sprintf("[%s](%s)", methods.Get(j).Name(), b.link(methods.Get(j), "")))
				}
			}
		}
		fmt.Fprintf(&text, "| [%s](%s) | %s |\n", titleOf(name), name, strings.Join(rpcs, ", "))
	}
	return text.String()
}
