package admission

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The expected permissions of each role in a studio are written by hand here. Unlike the golden matrix, they are not
// generated from the code.
func TestRules_GiveRolesTheirPermissions(t *testing.T) {
	t.Parallel()
	rules := expect.Value(Rules())(t)
	a := checks{rules: rules, guard: access.New(stubRoles{})}
	roles := []string{"owner", "admin", "coach", "member"}
	type verdicts [4]string
	var (
		staff    = verdicts{"yes", "yes", "yes", "-"}
		managers = verdicts{"yes", "yes", "-", "-"}
		everyone = verdicts{"yes", "yes", "yes", "yes"}
	)
	for rpc, want := range map[string]verdicts{
		"SessionService/CreateSession":       staff,
		"SessionService/UpdateSession":       staff,
		"SessionService/FindSubstitutes":     staff,
		"WorkoutService/SetWorkouts":         staff,
		"WorkoutService/AddInlineWorkout":    staff,
		"SessionService/PublishSession":      managers,
		"SessionService/UnpublishSession":    managers,
		"SessionService/CancelSession":       managers,
		"SessionService/PreviewBulkSessions": managers,
		"SessionService/BulkPublishSessions": managers,
		"SessionService/BulkCancelSessions":  managers,
		"SessionService/BulkDeleteSessions":  managers,
		"SessionService/ListSessions":        everyone,
		"SessionService/GetSession":          everyone,

		"BookingService/GetSessionRoster": staff,
		"BookingService/Book":             everyone,
		"BookingService/CancelBooking":    {"yes", "yes", "own", "own"},
		"BookingService/BatchGetBookings": {"yes", "yes", "yes", "own"},
		"BookingService/ListBookings":     {"yes", "yes", "yes", "own"}, // staff may list those of everyone
		"BookingService/UpdateBooking":    {"yes", "yes", "yes", "own"},
		"CreditService/RefundCredit":      managers,

		"CheckInService/CheckIn":           staff,
		"CheckInService/UndoCheckIn":       staff,
		"CheckInService/GetQrToken":        staff,
		"CheckInService/CreateDisplayLink": staff,
		"CheckInService/ListDisplayLinks":  staff,
		"CheckInService/RevokeDisplayLink": staff,
		"CheckInService/GetCheckInDisplay": everyone, // the token is signed
		"CheckInService/SelfCheckIn":       everyone,
		"CheckInService/ListAttendance":    staff,

		"AnalyticsService/GetBookingTrend":      managers,
		"AnalyticsService/GetAttendanceSummary": managers,
		"AnalyticsService/ListAttendanceDaily":  managers,
	} {
		rule, ok := rules["/berth.v1."+rpc]
		if !ok {
			t.Errorf("there is no %s", rpc)
			continue
		}
		var got verdicts
		for i, role := range roles {
			got[i] = accessResult(t, &a, role, rule)
		}
		test.EqOp(t, want, got, test.Sprint(rpc))
	}
}
