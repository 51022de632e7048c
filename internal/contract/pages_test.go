package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const root = "../.."

func TestDocumentation_IsFresh(t *testing.T) {
	t.Parallel()
	want := expect.Value(documentation(root))(t)
	dir := filepath.Join(root, "docs", "api")
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		test.NoError(t, err)
		test.True(t, string(got) == text, test.Sprintf("docs/api/%s is stale: run make generate", name))
	}
	for _, entry := range expect.Value(os.ReadDir(dir))(t) {
		test.MapContainsKey(t, want, entry.Name(), test.Sprintf("docs/api/%s is no page", entry.Name()))
	}
}

func TestWrite_RemovesPagesThatAreGone(t *testing.T) {
	t.Parallel()
	copied := t.TempDir()
	for _, dir := range []string{"proto", "server/testdata/recording"} {
		must.NoError(t, os.CopyFS(filepath.Join(copied, dir), os.DirFS(filepath.Join(root, dir))))
	}
	stale := filepath.Join(copied, "docs", "api", "gone.md")
	must.NoError(t, os.MkdirAll(filepath.Dir(stale), 0o750))
	must.NoError(t, os.WriteFile(stale, nil, 0o600))
	must.NoError(t, write(copied))
	test.FileNotExists(t, stale)
	test.FileExists(t, filepath.Join(copied, "docs", "api", "booking.md"))
}

// Examples are messages of the contract, so none is of an older one.
func TestExamples_AreMessagesOfTheContract(t *testing.T) {
	t.Parallel()
	c, exchanges := expect.Value(read(root))(t), expect.Value(readRecordings(root))(t)
	b := &book{contract: c, exchanges: exchanges}
	each(c, func(m protoreflect.MethodDescriptor) {
		e, ok := b.exampleOf(m)
		must.True(t, ok, must.Sprintf("%s has no example", shortName(m)))
		answers := []any{e.answer}
		if m.IsStreamingServer() {
			return // its example is a list of events, compared below
		}
		for _, answer := range answers {
			test.NoError(t, matches(answer, typeOf(t, m.Output())), test.Sprintf("the answer of %s", shortName(m)))
		}
		test.NoError(t, matches(e.request, typeOf(t, m.Input())), test.Sprintf("the request of %s", shortName(m)))
	})
}

func typeOf(t *testing.T, m protoreflect.MessageDescriptor) protoreflect.MessageType {
	t.Helper()
	return expect.Value(protoregistry.GlobalTypes.FindMessageByName(m.FullName()))(t)
}

// unrecorded are the events that no recording has.
var unrecorded = map[string]string{
	"EVENT_TYPE_UNSPECIFIED":           "never sent",
	"EVENT_TYPE_SESSION_SEATS_CHANGED": "streamed to those who see no bookings, and never listed",
	"EVENT_TYPE_OFFER_EXTENDED":        "a provider has to fail for a while",
	"EVENT_TYPE_DISPLAY_SECOND_SCREEN": "two browsers have to read a display",
}

func TestEvents_HaveAnExampleEach(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, e := range expect.Value(readRecordings(root))(t) {
		for _, event := range eventsIn(e.answer) {
			kind, _ := event.get("type").(string)
			seen[kind] = true
			test.NoError(t, matches(event, new(v1.Event).ProtoReflect().Type()), test.Sprintf("%s: %s", e.title, kind))
		}
	}
	for _, name := range v1.EventType_name {
		test.True(t, seen[name] != (unrecorded[name] != ""), test.Sprintf("recorded: %t: %s", seen[name], name))
	}
}

// general are the reasons that any RPC can give, as the comment of ErrorReason says.
var general = strings.Fields(`
INVALID_FIELD UNAUTHENTICATED TENANT_FORBIDDEN TENANT_REQUIRED PERMISSION_DENIED NOT_A_MEMBER MEMBER_INACTIVE
REQUEST_TOO_LARGE RATE_LIMITED
CONTENTION DEADLINE_EXCEEDED CANCELED INTERNAL IDEMPOTENCY_CONFLICT QUOTA_EXCEEDED`)

func TestGeneral_AreTheReasonsThatTheContractSays(t *testing.T) {
	t.Parallel()
	said := expect.Value(read(root))(t).comment(v1.ErrorReason(0).Descriptor())
	for _, cause := range general {
		test.StrContains(t, said, cause)
	}
}

// Comments list the reasons that an RPC was seen to give.
func TestErrors_AreInTheListOfTheirRPC(t *testing.T) {
	t.Parallel()
	c := expect.Value(read(root))(t)
	listed := make(map[string][]string)
	each(c, func(m protoreflect.MethodDescriptor) { listed[shortName(m)] = c.rpcOf(m).causes })
	for _, e := range expect.Value(readRecordings(root))(t) {
		if e.reason != "" {
			test.True(t, slices.Contains(general, e.reason) || slices.Contains(listed[e.rpc], e.reason),
				test.Sprintf("%s gave %s, which its comment does not list (%s)", e.rpc, e.reason, e.title))
		}
	}
}

func TestErrors_HaveTheCodeThatTheirCommentSays(t *testing.T) {
	t.Parallel()
	c := expect.Value(read(root))(t)
	said := make(map[string]string)
	each(c, func(v protoreflect.EnumValueDescriptor) {
		if name, ok := strings.CutPrefix(string(v.Name()), reasonPrefix); ok {
			said[name] = c.codeOf(v)
			test.True(t, said[name] != "" || v.Number() == 0, test.Sprintf("the comment of %s has no code", name))
		}
	})
	for _, e := range expect.Value(readRecordings(root))(t) {
		if e.reason != "" {
			test.EqOp(t, said[e.reason], e.code, test.Sprintf("%s in %q", e.reason, e.title))
		}
	}
}
