package admission

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCheckStorable_RejectsValuesNoColumnKeeps(t *testing.T) {
	t.Parallel()
	allowed := requestLimits(expect.Value(Rules())(t))
	const none = "00000000-0000-0000-0000-000000000000"
	for name, tt := range map[string]struct {
		message proto.Message
		field   string // "" if the value is accepted
	}{
		"nothing":       {&v1.BookRequest{}, ""},
		"any text":      {&v1.BookRequest{SessionId: someSession, Note: "\x01\ufffe " + none}, ""},
		"NUL":           {&v1.BookRequest{SessionId: someSession, Note: "a\x00"}, "note"},
		"NUL inside":    {&v1.CreatePlanRequest{Plan: &v1.PlanInput{Name: "\x00"}}, "plan.name"},
		"NUL first":     {&v1.ServiceAccountInput{Roles: []string{"\x00"}}, "roles"},
		"NUL in a list": {&v1.ServiceAccountInput{Roles: []string{"coach", "\x00"}}, "roles"},
		"first and last second": {
			&v1.TimeRange{
				Start: &timestamppb.Timestamp{Seconds: -62135596800}, End: &timestamppb.Timestamp{Seconds: 253402300799},
			},
			"",
		},
		"a time beyond": {
			&v1.ListSessionsRequest{
				Filter: &v1.SessionFilter{StartsWithin: &v1.TimeRange{End: &timestamppb.Timestamp{Seconds: math.MaxInt64}}},
			},
			"filter.starts_within.end",
		},
		"the most items":      {&v1.UpdateMemberRequest{UpdateMask: masked(100)}, ""},
		"more items":          {&v1.UpdateMemberRequest{UpdateMask: masked(101)}, "update_mask.paths"},
		"a long text":         {&v1.BookRequest{Note: strings.Repeat("é", 2001)}, "note"},
		"a large file":        {&v1.ImportMembersRequest{Csv: make([]byte, 8<<20)}, "csv"},
		"the largest file":    {&v1.ImportMembersRequest{Csv: make([]byte, 3_000_000)}, ""},
		"the nil UUID":        {&v1.BookRequest{MemberId: none}, "member_id"},
		"the nil UUID listed": {&v1.SetWorkoutsRequest{WorkoutIds: []string{someSession, none}}, "workout_ids"},
	} {
		err := allowed.check(tt.message.ProtoReflect(), "")
		if tt.field == "" && err == nil {
			continue
		}
		f, ok := err.(*fault.Error)
		must.True(t, ok, must.Sprintf("%s: %v", name, err))
		test.EqOp(t, tt.field, f.Field, test.Sprintf("%s: %v", name, err))
		test.EqOp(t, fault.InvalidField, f.Reason, test.Sprintf("%s: %v", name, err))
	}
}

// Text that reads the same is the same, wherever it stands in a request.
func TestCheckStorable_ComposesTexts(t *testing.T) {
	t.Parallel()
	const apart, composed = "Jose\u0301", "Jos\u00e9"
	request := &v1.BatchCreateInvitationsRequest{
		TenantId: apart, Invitations: []*v1.InvitationInput{
			{Who: &v1.InvitationInput_Person{Person: &v1.InvitedPerson{Name: apart}}},
		},
	}
	roles := &v1.ServiceAccountInput{Name: apart, Roles: []string{"coach", apart}}
	allowed := requestLimits(expect.Value(Rules())(t))
	must.NoError(t, allowed.check(request.ProtoReflect(), ""))
	must.NoError(t, allowed.check(roles.ProtoReflect(), ""))
	test.EqOp(t, composed, request.GetTenantId())
	test.EqOp(t, composed, request.GetInvitations()[0].GetPerson().GetName())
	test.EqOp(t, composed, roles.GetName())
	test.Eq(t, []string{"coach", composed}, roles.GetRoles())

	// U+0958 is a letter and a mark when composed, of six bytes instead of three: bounds are those of what is stored.
	err := allowed.check((&v1.BookRequest{Note: strings.Repeat("\u0958", 1000)}).ProtoReflect(), "")
	test.EqOp(t, "INVALID_FIELD @note", faulttest.Text(err))
}

func masked(paths int) *fieldmaskpb.FieldMask {
	return &fieldmaskpb.FieldMask{Paths: slices.Repeat([]string{"name"}, paths)}
}

// brokenRules is a validator whose rules cannot be evaluated.
type brokenRules struct{}

func (brokenRules) Validate(proto.Message, ...protovalidate.ValidationOption) error {
	return errors.New("no such function")
}

// What a broken rule would reject is not taken for valid.
func TestValidate_FailsIfARuleDoes(t *testing.T) {
	t.Parallel()
	test.EqError(t, (&checks{validator: brokenRules{}}).validate(new(v1.BookRequest)), "no such function")
}
