package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// folder is where the files of the contract are, in the folder proto.
const folder = "berth/v1"

// A contract is the contract with its comments.
type contract struct {
	files    []protoreflect.FileDescriptor // in the order of their names
	comments map[protoreflect.FullName]string
}

// read reads the contract: descriptors, with their options, from the generated code, and comments from the .proto files
// below the root of the repository, since generated code has none.
func read(root string) (*contract, error) {
	dir := filepath.Join(root, "proto")
	entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(folder)))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		names = append(names, path.Join(folder, entry.Name()))
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.CompositeResolver{
			&protocompile.SourceResolver{ImportPaths: []string{dir}},
			protocompile.ResolverFunc(func(name string) (protocompile.SearchResult, error) {
				file, err := protoregistry.GlobalFiles.FindFileByPath(name)
				return protocompile.SearchResult{Desc: file}, err
			}),
		},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return nil, err
	}
	c := &contract{comments: make(map[protoreflect.FullName]string)}
	for _, source := range compiled {
		file, err := protoregistry.GlobalFiles.FindFileByPath(source.Path())
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, file)
		walk(source, func(d protoreflect.Descriptor) {
			c.comments[d.FullName()] = unwrap(source.SourceLocations().ByDescriptor(d).LeadingComments)
		})
	}
	return c, nil
}

// unwrap joins the lines of a comment's paragraphs, which end at an empty line. Lists such as "Errors: " start a line.
func unwrap(comment string) string {
	var text strings.Builder
	between := ""
	for line := range strings.Lines(comment) {
		switch line = strings.TrimSpace(line); {
		case line == "":
			between = "\n\n"
			continue
		case between == " " && listed.MatchString(line):
			between = "\n"
		}
		text.WriteString(between + line)
		between = " "
	}
	return text.String()
}

var listed = regexp.MustCompile(`^(Errors|Order|Repeated): |^- `)

// walk calls f for everything that a file has.
func walk(file protoreflect.FileDescriptor, f func(protoreflect.Descriptor)) {
	enums := func(all protoreflect.EnumDescriptors) {
		for i := range all.Len() {
			f(all.Get(i))
			for j := range all.Get(i).Values().Len() {
				f(all.Get(i).Values().Get(j))
			}
		}
	}
	var messages func(protoreflect.MessageDescriptors)
	messages = func(all protoreflect.MessageDescriptors) {
		for i := range all.Len() {
			m := all.Get(i)
			if m.IsMapEntry() {
				continue
			}
			f(m)
			for j := range m.Fields().Len() {
				f(m.Fields().Get(j))
			}
			for j := range m.Oneofs().Len() {
				if !m.Oneofs().Get(j).IsSynthetic() {
					f(m.Oneofs().Get(j))
				}
			}
			enums(m.Enums())
			messages(m.Messages())
		}
	}
	enums(file.Enums())
	messages(file.Messages())
	for i := range file.Services().Len() {
		service := file.Services().Get(i)
		f(service)
		for j := range service.Methods().Len() {
			f(service.Methods().Get(j))
		}
	}
}

// comment returns the comment of a descriptor.
func (c *contract) comment(d protoreflect.Descriptor) string { return c.comments[d.FullName()] }

// each calls f for everything of one kind in the contract.
func each[D protoreflect.Descriptor](c *contract, f func(D)) {
	for _, file := range c.files {
		walk(file, func(d protoreflect.Descriptor) {
			if d, ok := d.(D); ok {
				f(d)
			}
		})
	}
}

// A rpc is what the comment of an RPC says, by its parts.
type rpc struct {
	text     string
	order    string   // of a list: "by start, then id"
	repeated string   // of a change: what another call without an idempotency key does
	errors   string   // as written
	causes   []string // the reasons in errors, and in those of the RPCs that these name
}

// others are RPCs whose errors are those of an RPC, too: "those of Book", "those of Accept and Decline".
var others = regexp.MustCompile(`[Tt]hose of ([A-Z]\w+)(?: and ([A-Z]\w+))?`)

// reason is a reason in a text.
var reason = regexp.MustCompile(`\b[A-Z]+(?:_[A-Z]+)*\b`)

// rpcOf returns the parts of an RPC's comment.
func (c *contract) rpcOf(m protoreflect.MethodDescriptor) rpc {
	var r rpc
	var text []string
	for line := range strings.Lines(c.comment(m)) {
		line = strings.TrimSuffix(line, "\n")
		if order, ok := strings.CutPrefix(line, "Order: "); ok {
			r.order = order
		} else if again, ok := strings.CutPrefix(line, "Repeated: "); ok {
			r.repeated = again
		} else if list, ok := strings.CutPrefix(line, "Errors: "); ok {
			r.errors = list
		} else {
			text = append(text, line)
		}
	}
	r.text = strings.TrimSpace(strings.Join(text, "\n"))
	for _, found := range others.FindAllStringSubmatch(r.errors, -1) {
		for _, name := range found[1:] {
			if other := c.method(name); other != nil {
				r.causes = append(r.causes, c.rpcOf(other).causes...)
			}
		}
	}
	for _, word := range reason.FindAllString(r.errors, -1) {
		if _, ok := v1.ErrorReason_value[reasonPrefix+word]; ok && !slices.Contains(r.causes, word) {
			r.causes = append(r.causes, word)
		}
	}
	return r
}

// method returns the RPC with a name, or nil.
func (c *contract) method(name string) (found protoreflect.MethodDescriptor) {
	each(c, func(m protoreflect.MethodDescriptor) {
		if string(m.Name()) == name {
			found = m
		}
	})
	return found
}

const reasonPrefix = "ERROR_REASON_"

// accessOf returns who may call an RPC.
func accessOf(m protoreflect.MethodDescriptor) *v1.Access {
	access, _ := proto.GetExtension(m.Options(), v1.E_Access).(*v1.Access)
	return access
}

// shortName returns a name such as "BookingService/Book".
func shortName(m protoreflect.MethodDescriptor) string {
	return fmt.Sprintf("%s/%s", m.Parent().Name(), m.Name())
}

// codeOf returns the code of a reason: its comment begins with it.
func (c *contract) codeOf(reason protoreflect.EnumValueDescriptor) string {
	code, _, found := strings.Cut(c.comment(reason), ": ")
	if !found || strings.ContainsFunc(code, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		return ""
	}
	return code
}
