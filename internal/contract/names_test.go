package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// keywords are the reserved words of the languages of clients: Go, Java, Kotlin, Python, Swift and TypeScript.
var keywords = wordSet(`
break case chan const continue default defer else fallthrough for func go goto if import interface map package range
return select struct switch var
abstract assert boolean byte catch char class do double enum extends final finally float implements instanceof int long
native new private protected public short static strictfp super synchronized this throw throws transient try void
volatile while true false null
as fun in is object typealias typeof val when
and async await def del elif except from global lambda nonlocal not or pass raise with yield
associatedtype deinit extension fileprivate guard inout init internal let open operator precedencegroup protocol repeat
rethrows self subscript where any catch some
constructor debugger delete export function`)

// methods are what generated messages have themselves: a field of this name gets another in some language.
var methods = wordSet(`
reset string proto_message proto_reflect descriptor
class all_fields default_instance_for_type descriptor_for_type initialization_error_string parser_for_type
serialized_size unknown_fields
debug_description hash_value is_initialized`)

func wordSet(text string) map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		words[w] = true
	}
	return words
}

// contractFields calls f for each field of the contract.
func contractFields(f func(protoreflect.FieldDescriptor)) {
	var messages func(protoreflect.MessageDescriptors)
	messages = func(all protoreflect.MessageDescriptors) {
		for i := range all.Len() {
			if all.Get(i).IsMapEntry() {
				continue
			}
			for j := range all.Get(i).Fields().Len() {
				f(all.Get(i).Fields().Get(j))
			}
			messages(all.Get(i).Messages())
		}
	}
	protoregistry.GlobalFiles.RangeFilesByPackage("berth.v1", func(file protoreflect.FileDescriptor) bool {
		messages(file.Messages())
		return true
	})
}

func TestContract_NamesFieldsAsEveryLanguageCan(t *testing.T) {
	t.Parallel()
	contractFields(func(f protoreflect.FieldDescriptor) {
		name := string(f.Name())
		test.False(t, keywords[name], test.Sprintf("%s is named like a keyword", f.FullName()))
		test.False(t, methods[name], test.Sprintf("%s is named like a method of messages", f.FullName()))
	})
}

var secretName = regexp.MustCompile(`(^|_)(token|key|secret|password|passphrase)$`)

// notSecret are fields that are named like secrets.
var notSecret = map[protoreflect.FullName]bool{
	"berth.v1.WaitlistFiguresRow.key": true, // what a row is about
	// What a preview showed. It permits nothing.
	"berth.v1.PreviewBulkSessionsResponse.token": true,
	"berth.v1.BulkPublishSessionsRequest.token":  true,
	"berth.v1.BulkCancelSessionsRequest.token":   true,
	"berth.v1.BulkDeleteSessionsRequest.token":   true,
}

// Who logs messages as text logs no secrets, and who calls over GET has none in the URL.
func TestContract_RedactsSecrets(t *testing.T) {
	t.Parallel()
	redacted := func(f protoreflect.FieldDescriptor) bool {
		options, _ := f.Options().(*descriptorpb.FieldOptions)
		return options.GetDebugRedact()
	}
	contractFields(func(f protoreflect.FieldDescriptor) {
		name := string(f.Name())
		if secretName.MatchString(name) && !strings.HasSuffix(name, "page_token") && !notSecret[f.FullName()] {
			test.True(t, redacted(f), test.Sprintf("%s is not redacted", f.FullName()))
		}
	})
	protoregistry.GlobalFiles.RangeFilesByPackage("berth.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				options, _ := methods.Get(j).Options().(*descriptorpb.MethodOptions)
				if options.GetIdempotencyLevel() != descriptorpb.MethodOptions_NO_SIDE_EFFECTS {
					continue
				}
				fields := methods.Get(j).Input().Fields()
				for k := range fields.Len() {
					test.False(t, redacted(fields.Get(k)), test.Sprintf("%s can be in a URL", fields.Get(k).FullName()))
				}
			}
		}
		return true
	})
}

var (
	recordedAction = regexp.MustCompile(`\baction: "([a-z_.]+)"`)
	participle     = regexp.MustCompile(`^[a-z_]+\.([a-z]+_)*([a-z]+ed|reset|sent|set)(_by_hand)?$`)
)

// The contract says that actions of the audit log are an object and a past participle. So are those that are recorded.
func TestAuditActions_EndInParticiple(t *testing.T) {
	t.Parallel()
	actions := make(map[string]bool)
	for _, file := range expect.Value(filepath.Glob(filepath.Join(root, "server", "testdata", "recording", "*.txt")))(t) {
		for _, of := range recordedAction.FindAllStringSubmatch(string(expect.Value(os.ReadFile(file))(t)), -1) {
			actions[of[1]] = true
		}
	}
	test.MapContainsKey(t, actions, "payment.recorded")
	for action := range actions {
		test.RegexMatch(t, participle, action)
	}
}
