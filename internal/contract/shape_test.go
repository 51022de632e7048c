package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// exceptions are what the contract does otherwise than the tests below say, and why. A key is what a test says.
var exceptions = map[string]string{
	"reads: no GetBenefitMembership": "it is a number and a member, with nothing else to read",
	"reads: no GetDisplayLink":       "the list has all of it: the link itself is shown once",

	"reads: no ListNotificationPreferencess": "a member has one",
	"reads: no ListNotificationSenderss":     "a tenant has one",
	"reads: no ListNotificationSettingss":    "a tenant has one",
	"reads: no ListPolicies":                 "GetPolicy answers all levels that apply",
	"reads: no ListTenants":                  "a token names the tenants of its caller",
	"reads: no ListWaitlistRuless":           "GetWaitlistRules answers all levels that apply",

	"ids: BenefitMembership has no id":                                       "provider, number and member name it",
	"ids: DeleteBenefitMembershipRequest has no benefit_membership_id":       "provider, number and member name it",
	"ids: BenefitProvider has no id":                                         "its code names it, as in members' claims",
	"ids: GetBenefitProviderRequest has no benefit_provider_id":              "its code names it",
	"ids: UpdateBenefitProviderRequest has no benefit_provider_id":           "its code names it",
	"ids: Role has no id":                                                    "its name names it, as in tokens",
	"ids: GetRoleRequest has no role_id":                                     "its name names it",
	"ids: UpdateRoleRequest has no role_id":                                  "its name names it",
	"ids: DeleteRoleRequest has no role_id":                                  "its name names it",
	"ids: NotificationTemplate has no id":                                    "topic, channel and locale name it",
	"ids: GetNotificationTemplateRequest has no notification_template_id":    "topic, channel and locale name it",
	"ids: UpdateNotificationTemplateRequest has no notification_template_id": "topic, channel and locale name it",

	"ids: GetWaitlistEntryRequest has no waitlist_entry_id": "entry_id, as in events and all other requests",
	"ids: GetWaitlistOfferRequest has no waitlist_offer_id": "offer_id, as in events and all other requests",

	"ids: NotificationPreferences has no id":                                       "a member has one",
	"ids: GetNotificationPreferencesRequest has no notification_preferences_id":    "a member has one",
	"ids: UpdateNotificationPreferencesRequest has no notification_preferences_id": "a member has one",
	"ids: NotificationSenders has no id":                                           "a tenant has one",
	"ids: GetNotificationSendersRequest has no notification_senders_id":            "a tenant has one",
	"ids: UpdateNotificationSendersRequest has no notification_senders_id":         "a tenant has one",
	"ids: NotificationSettings has no id":                                          "a tenant has one",
	"ids: GetNotificationSettingsRequest has no notification_settings_id":          "a tenant has one",
	"ids: UpdateNotificationSettingsRequest has no notification_settings_id":       "a tenant has one",
	"ids: Policy has no id":                                    "a level has one",
	"ids: GetPolicyRequest has no policy_id":                   "a level has one",
	"ids: UpdatePolicyRequest has no policy_id":                "a level has one",
	"ids: WaitlistRules has no id":                             "a level has one",
	"ids: GetWaitlistRulesRequest has no waitlist_rules_id":    "a level has one",
	"ids: UpdateWaitlistRulesRequest has no waitlist_rules_id": "a level has one",

	"lists: ListBenefitProviders has no pages":      "a tenant has few: they are set up by hand",
	"lists: ListBenefitProviders has no filter":     "a tenant has few",
	"lists: ListDisplayLinks has no pages":          "a session has few: old ones go",
	"lists: ListDisplayLinks has no filter":         "of one session",
	"lists: ListNotificationTemplates has no pages": "one for each topic, channel and language",
	"lists: ListOwnershipTransfers has no pages":    "an owner has at most one open",
	"lists: ListOwnershipTransfers has no filter":   "an owner has at most one open",
	"lists: ListPaymentLines has no pages":          "a booking has at most a hundred",
	"lists: ListPaymentLines has no filter":         "of one booking",
	"lists: ListPermissions has no pages":           "there are as many as the contract has",
	"lists: ListPermissions has no filter":          "there are as many as the contract has",
	"lists: ListSignIns has no pages":               "a member has at most 50",
	"lists: ListSignIns has no filter":              "of one member",
	"lists: ListSendingQuotas has no pages":         "one for each channel and country",
	"lists: ListSendingQuotas has no filter":        "one for each channel and country",

	"updates: UpdateBenefitNumbers has no mask":                  "it adds to a set and removes from it",
	"updates: UpdateBenefitNumbers has no etag":                  "it adds to a set and removes from it",
	"updates: UpdateBenefitNumbers takes no BenefitNumbersInput": "it adds to a set and removes from it",
	"updates: UpdateNotificationTemplate has no mask":            "the texts of a message are edited as one",
	"updates: UpdatePolicy takes no PolicyInput":                 "a policy is nothing but what can be edited",
	"updates: UpdateWaitlistRules takes no WaitlistRulesInput":   "rules are nothing but what can be edited",

	"creates: CreateCalendarFeed answers no CalendarFeed":      "it answers a link, which is all that there is of a feed",
	"creates: CreateCalendarFeed takes no CalendarFeedInput":   "a member has one",
	"creates: CreateWaitlistOffer takes no WaitlistOfferInput": "the entry says all",
	"creates: CreateDisplayLink takes no DisplayLinkInput":     "the session says all",
}

// A survey collects what is otherwise than it should be, and compares it with the exceptions of its kind.
type survey struct {
	kind  string
	found map[string]bool
}

func (s *survey) missing(format string, args ...any) {
	s.found[fmt.Sprintf(s.kind+": "+format, args...)] = true
}

// check reports what is no exception, and exceptions that are none.
func (s *survey) check(t *testing.T) {
	t.Helper()
	known := slices.Collect(maps.Keys(exceptions))
	for _, one := range slices.Sorted(maps.Keys(s.found)) {
		test.SliceContains(t, known, one)
	}
	for _, one := range known {
		test.True(t, !strings.HasPrefix(one, s.kind+": ") || s.found[one], test.Sprintf("no longer an exception: %s", one))
	}
}

func newSurvey(kind string) *survey { return &survey{kind, make(map[string]bool)} }

// methods returns all RPCs by their names, which are unique.
func methodsOf(c *contract) map[string]protoreflect.MethodDescriptor {
	all := make(map[string]protoreflect.MethodDescriptor)
	each(c, func(m protoreflect.MethodDescriptor) { all[string(m.Name())] = m })
	return all
}

// messagesOf returns all messages by their names.
func messagesOf(c *contract) map[string]protoreflect.MessageDescriptor {
	all := make(map[string]protoreflect.MessageDescriptor)
	each(c, func(m protoreflect.MessageDescriptor) { all[string(m.Name())] = m })
	return all
}

var verb = regexp.MustCompile(`^(Create|Update|Get|Delete|Batch[A-Z][a-z]+|List)(.*)$`)

func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "Series"):
		return name
	case strings.HasSuffix(name, "Entry"), strings.HasSuffix(name, "Policy"), strings.HasSuffix(name, "Delivery"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}

var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

func snake(name string) string { return strings.ToLower(camel.ReplaceAllString(name, "${1}_$2")) }

// field returns a field of a message, or nil.
func field(m protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	return m.Fields().ByName(protoreflect.Name(name))
}

// A resource is a message that RPCs create, change, read or delete.
func TestResources_CanBeReadAndListed(t *testing.T) {
	t.Parallel()
	c := expect.Value(read(root))(t)
	methods, messages, s := methodsOf(c), messagesOf(c), newSurvey("reads")
	for name := range methods {
		found := verb.FindStringSubmatch(name)
		if found == nil || messages[found[2]] == nil {
			continue
		}
		if methods["Get"+found[2]] == nil {
			s.missing("no Get%s", found[2])
		}
		if methods["List"+plural(found[2])] == nil {
			s.missing("no List%s", plural(found[2]))
		}
	}
	s.check(t)
}

func TestLists_HavePagesAFilterAndAnOrder(t *testing.T) {
	t.Parallel()
	c := expect.Value(read(root))(t)
	s := newSurvey("lists")
	each(c, func(m protoreflect.MethodDescriptor) {
		if !strings.HasPrefix(string(m.Name()), "List") {
			return
		}
		in, out := m.Input(), m.Output()
		if field(in, "page_size") == nil || field(in, "page_token") == nil || field(out, "next_page_token") == nil {
			s.missing("%s has no pages", m.Name())
		}
		f := field(in, "filter")
		if f == nil || f.Message() == nil || !strings.HasSuffix(string(f.Message().Name()), "Filter") {
			s.missing("%s has no filter", m.Name())
		}
		if c.rpcOf(m).order == "" {
			s.missing("%s says no order", m.Name())
		}
	})
	s.check(t)
}

// What another call does without an idempotency key; whether it does so is tested against a server.
func TestChanges_SayWhatARepetitionDoes(t *testing.T) {
	t.Parallel()
	c := expect.Value(read(root))(t)
	s := newSurvey("repeated")
	each(c, func(m protoreflect.MethodDescriptor) {
		options, _ := m.Options().(*descriptorpb.MethodOptions)
		// What takes a secret is not served over GET, whatever it does.
		reads := options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS ||
			strings.HasPrefix(string(m.Name()), "Get")
		if !reads && c.rpcOf(m).repeated == "" {
			s.missing("%s does not say it", m.Name())
		}
	})
	s.check(t)
}

func TestUpdates_HaveAMaskAndAnEtag(t *testing.T) {
	t.Parallel()
	c := expect.Value(read(root))(t)
	s := newSurvey("updates")
	each(c, func(m protoreflect.MethodDescriptor) {
		name, ok := strings.CutPrefix(string(m.Name()), "Update")
		if !ok {
			return
		}
		in := m.Input()
		if f := field(in, "update_mask"); f == nil || f.Message() == nil || f.Message().Name() != "FieldMask" {
			s.missing("%s has no mask", m.Name())
		}
		if field(in, "etag") == nil {
			s.missing("%s has no etag", m.Name())
		}
		if !takes(in, name+"Input") {
			s.missing("%s takes no %sInput", m.Name(), name)
		}
	})
	s.check(t)
}

// takes reports whether a message has a field of a type.
func takes(m protoreflect.MessageDescriptor, name string) bool {
	for i := range m.Fields().Len() {
		if of := m.Fields().Get(i).Message(); of != nil && string(of.Name()) == name && !m.Fields().Get(i).IsList() {
			return true
		}
	}
	return false
}

func TestCreates_AnswerTheResource(t *testing.T) {
	t.Parallel()
	c := expect.Value(read(root))(t)
	s := newSurvey("creates")
	each(c, func(m protoreflect.MethodDescriptor) {
		name, ok := strings.CutPrefix(string(m.Name()), "Create")
		if !ok {
			return
		}
		if !takes(m.Output(), name) {
			s.missing("%s answers no %s", m.Name(), name)
		}
		if !takes(m.Input(), name+"Input") {
			s.missing("%s takes no %sInput", m.Name(), name)
		}
	})
	s.check(t)
}

// Requests name what they are about by its kind, such as booking_id, and messages have an id of their own.
func TestIDs_AreNamedAlike(t *testing.T) {
	t.Parallel()
	c := expect.Value(read(root))(t)
	s := newSurvey("ids")
	messages := messagesOf(c)
	each(c, func(m protoreflect.MethodDescriptor) {
		if field(m.Input(), "id") != nil {
			s.missing("%s has id", m.Input().Name())
		}
		found := verb.FindStringSubmatch(string(m.Name()))
		if found == nil || messages[found[2]] == nil || found[1] == "Create" || found[1] == "List" {
			return
		}
		if want := snake(found[2]) + "_id"; field(m.Input(), want) == nil {
			s.missing("%s has no %s", m.Input().Name(), want)
		}
		if field(messages[found[2]], "id") == nil {
			s.missing("%s has no id", found[2])
		}
	})
	each(c, func(f protoreflect.FieldDescriptor) {
		name := string(f.Name())
		if strings.HasSuffix(name, "_ids") && !f.IsList() || strings.HasSuffix(name, "_id") && f.IsList() {
			s.missing("%s is a list, or none", f.FullName())
		}
	})
	s.check(t)
}

// BatchGet reads up to 100, keeps their order, and says which are missing.
func TestBatchGets_SayWhatIsMissing(t *testing.T) {
	t.Parallel()
	c := expect.Value(read(root))(t)
	s := newSurvey("batches")
	each(c, func(m protoreflect.MethodDescriptor) {
		name, ok := strings.CutPrefix(string(m.Name()), "BatchGet")
		if !ok {
			return
		}
		ids := field(m.Input(), snake(strings.TrimSuffix(name, "s"))+"_ids")
		if ids == nil {
			s.missing("%s takes no ids", m.Name())
			return
		}
		rules, _ := proto.GetExtension(ids.Options(), validatepb.E_Field).(*validatepb.FieldRules)
		if rules.GetRepeated().GetMinItems() != 1 || rules.GetRepeated().GetMaxItems() != 100 {
			s.missing("%s does not take 1 to 100", m.Name())
		}
		if field(m.Output(), "missing_ids") == nil {
			s.missing("%s does not say what is missing", m.Name())
		}
	})
	s.check(t)
}

// Clients read what a newer server answers: a new value of an enum, and a new case of a oneof, which an older client
// does not know and reads as none.
func TestAnswers_AllowWhatIsNotKnownYet(t *testing.T) {
	t.Parallel()
	c := expect.Value(read(root))(t)
	s := newSurvey("answers")
	seen := make(map[protoreflect.FullName]bool)
	var look func(m protoreflect.MessageDescriptor)
	look = func(m protoreflect.MessageDescriptor) {
		if seen[m.FullName()] {
			return
		}
		seen[m.FullName()] = true
		for i := range m.Oneofs().Len() {
			rules, _ := proto.GetExtension(m.Oneofs().Get(i).Options(), validatepb.E_Oneof).(*validatepb.OneofRules)
			if rules.GetRequired() {
				s.missing("%s is required", m.Oneofs().Get(i).FullName())
			}
		}
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			rules, _ := proto.GetExtension(f.Options(), validatepb.E_Field).(*validatepb.FieldRules)
			for _, of := range []*validatepb.FieldRules{
				rules, rules.GetRepeated().GetItems(), rules.GetMap().GetKeys(), rules.GetMap().GetValues(),
			} {
				if of.GetEnum().GetDefinedOnly() {
					s.missing("%s is defined_only", f.FullName())
				}
			}
			if f.Message() != nil {
				look(f.Message())
			}
		}
	}
	each(c, func(m protoreflect.MethodDescriptor) { look(m.Output()) })
	s.check(t)
}

// Counts are int32: JSON has int64 as text.
func TestNumbers_AreNumbersInJSON(t *testing.T) {
	t.Parallel()
	s := newSurvey("numbers")
	each(expect.Value(read(root))(t), func(f protoreflect.FieldDescriptor) {
		switch f.Kind() {
		case protoreflect.Int64Kind, protoreflect.Uint64Kind, protoreflect.Sint64Kind, protoreflect.Fixed64Kind,
			protoreflect.Sfixed64Kind:
			s.missing("%s is %s", f.FullName(), f.Kind())
		default:
		}
	})
	s.check(t)
}

var update = flag.Bool("update", false, "write testdata/contract.golden")

// The golden file has what a check of the .proto files for breaking changes does not see: who may call, orders, reasons
// and their codes, rules of fields, and what an absent field means.
func TestContract_PromisesWhatItDid(t *testing.T) {
	t.Parallel()
	c := expect.Value(read(root))(t)
	var text strings.Builder
	text.WriteString("# What the contract promises. Written by go test ./internal/contract -update\n")
	for _, name := range slices.Sorted(maps.Keys(methodsOf(c))) {
		m := methodsOf(c)[name]
		access, doc := accessOf(m), c.rpcOf(m)
		options, _ := m.Options().(*descriptorpb.MethodOptions)
		// The text of a message has more or fewer spaces, by the build.
		fmt.Fprintf(&text, "\nrpc %s: %s", shortName(m), strings.Join(strings.Fields(access.String()), " "))
		if level := options.GetIdempotencyLevel(); level != 0 {
			fmt.Fprintf(&text, " %s", level)
		}
		text.WriteByte('\n')
		if doc.order != "" {
			fmt.Fprintf(&text, "  order: %s\n", doc.order)
		}
		if doc.repeated != "" {
			fmt.Fprintf(&text, "  repeated: %s\n", doc.repeated)
		}
		if len(doc.causes) > 0 {
			fmt.Fprintf(&text, "  errors: %s\n", strings.Join(slices.Compact(slices.Sorted(slices.Values(doc.causes))), " "))
		}
	}
	text.WriteByte('\n')
	each(c, func(v protoreflect.EnumValueDescriptor) {
		if name, ok := strings.CutPrefix(string(v.Name()), reasonPrefix); ok {
			fmt.Fprintf(&text, "reason %s: %s\n", name, c.codeOf(v))
		}
	})
	messages := messagesOf(c)
	for _, name := range slices.Sorted(maps.Keys(messages)) {
		m := messages[name]
		var lines []string
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			if promised := append(rulesOf(f), defaults(c.comment(f))...); len(promised) > 0 {
				lines = append(lines, fmt.Sprintf("  %s: %s\n", f.Name(), strings.Join(promised, "; ")))
			}
		}
		rules, _ := proto.GetExtension(m.Options(), validatepb.E_Message).(*validatepb.MessageRules)
		for _, rule := range rules.GetCel() {
			lines = append(lines, fmt.Sprintf("  rule: %s: %s\n", rule.GetId(), rule.GetMessage()))
		}
		if len(lines) > 0 {
			fmt.Fprintf(&text, "\nmessage %s\n%s", name, strings.Join(lines, ""))
		}
	}
	path := filepath.Join("testdata", "contract.golden")
	if *update {
		must.NoError(t, os.MkdirAll("testdata", 0o750))
		must.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	}
	want := strings.Split(string(expect.Value(os.ReadFile(path))(t)), "\n")
	for i, line := range strings.Split(text.String(), "\n") {
		must.True(t, i < len(want) && want[i] == line, must.Sprintf(
			"line %d is new: %q. Is it compatible with what clients know? Then: go test ./internal/contract -update", i+1, line,
		))
	}
}

var defaulting = regexp.MustCompile(`(?i)\b(default|absent|empty|unspecified|unset|means|optional)\b|\b0\b`)

// defaults returns the sentences of a comment that say what an absent value means.
func defaults(comment string) []string {
	var found []string
	for sentence := range strings.SplitSeq(strings.ReplaceAll(comment, "\n", " "), ". ") {
		if defaulting.MatchString(sentence) {
			found = append(found, strings.TrimSuffix(sentence, "."))
		}
	}
	return found
}
