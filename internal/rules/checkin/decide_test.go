package checkin_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/testkit/expect"
)

var (
	starts = time.Date(2026, 3, 29, 18, 0, 0, 0, time.UTC)
	ends   = starts.Add(time.Hour)
	studio = checkin.Point{Latitude: 52.5200, Longitude: 13.4050}
)

// facts returns those of a confirmed booking that may check in.
func facts() checkin.Facts {
	return checkin.Facts{
		Status:       checkin.Confirmed,
		Starts:       starts,
		Ends:         ends,
		Delivery:     checkin.InPerson,
		Location:     &studio,
		GPSMaxMeters: 200,
		Window:       checkin.Window{OpensBefore: time.Hour, ClosesAfterEnd: 30 * time.Minute},
	}
}

// at is a request by GPS.
func at(p checkin.Point) checkin.Request {
	return checkin.Request{Method: checkin.GPS, Position: checkin.Position{Point: p}}
}

func TestDecide_ChecksStatusWindowAndDistance(t *testing.T) {
	t.Parallel()
	var (
		staff  = func(f *checkin.Facts) { f.Staff = true }
		status = func(s checkin.Status) func(*checkin.Facts) { return func(f *checkin.Facts) { f.Status = s } }
		first  = starts.Add(-40 * time.Minute)
		manual = checkin.Request{Method: checkin.Manual}
		qr     = checkin.Request{Method: checkin.QR}
		gps    = func(latitude, longitude float64) checkin.Request {
			return at(checkin.Point{Latitude: latitude, Longitude: longitude})
		}
		near = gps(52.5205, 13.4055)
		all  = func(edits ...func(*checkin.Facts)) func(*checkin.Facts) {
			return func(f *checkin.Facts) {
				for _, edit := range edits {
					edit(f)
				}
			}
		}
		attended = all(status(checkin.Attended), func(f *checkin.Facts) {
			f.CheckedInAt, f.Method = first, checkin.GPS
		})
		online   = func(f *checkin.Facts) { f.Delivery = checkin.Feed }
		code     = func(f *checkin.Facts) { f.RequiresQR = true }
		small    = func(f *checkin.Facts) { f.GPSMaxMeters = 30 }
		reported = func(accuracy float64, age time.Duration) checkin.Request {
			return checkin.Request{
				Method: checkin.GPS, Position: checkin.Position{Point: studio, Accuracy: accuracy, Age: &age},
			}
		}
		window = map[string]string{"opens_at": "2026-03-29T17:00:00Z", "closes_at": "2026-03-29T19:30:00Z"}
		is     = func(status string) map[string]string { return map[string]string{"status": status} }
	)
	for _, c := range []struct {
		rule     string
		edit     func(*checkin.Facts)
		command  checkin.Request
		at       time.Duration // after the start
		reason   fault.Reason
		metadata map[string]string
		already  bool
	}{
		{rule: "a member scans", command: qr},
		{rule: "a member is near", command: near},
		{rule: "staff check in a member", edit: staff, command: manual},
		{rule: "a member cannot check in by hand", command: manual, reason: fault.PermissionDeniedReason},
		{rule: "not even after staff did", edit: attended, command: manual, reason: fault.PermissionDeniedReason},

		{rule: "scanning twice is harmless", edit: attended, command: qr, already: true},
		{rule: "scanning twice, after the window", edit: attended, command: qr, at: 5 * time.Hour, already: true},
		{rule: "scanning twice, from far away", edit: attended, command: gps(0, 0), already: true},
		{rule: "staff after a scan is harmless", edit: all(attended, staff), command: manual, already: true},

		{
			rule: "a hold is not confirmed", edit: status(checkin.Pending), command: qr,
			reason: fault.NotConfirmed, metadata: is("PENDING"),
		},
		{
			rule: "a no-show must be undone first", edit: all(status(checkin.NoShow), staff), command: manual,
			reason: fault.NotConfirmed, metadata: is("NO_SHOW"),
		},
		{
			rule: "cancelled", edit: status(checkin.Cancelled), command: qr,
			reason: fault.NotConfirmed, metadata: is("CANCELLED"),
		},
		{
			rule: "expired", edit: status(checkin.Expired), command: qr,
			reason: fault.NotConfirmed, metadata: is("EXPIRED"),
		},
		{
			rule: "there is no booking", edit: status(""), command: qr,
			reason: fault.NotConfirmed, metadata: is(""),
		},
		{
			rule: "the session is cancelled", command: manual,
			edit:   all(staff, func(f *checkin.Facts) { f.SessionCancelled = true }),
			reason: fault.SessionNotOpen,
		},

		{rule: "the window opens", command: qr, at: -time.Hour},
		{
			rule: "just before the window opens", command: qr, at: -time.Hour - 1,
			reason: fault.CheckInWindow, metadata: window,
		},
		{rule: "the last instant of the window", command: qr, at: 90*time.Minute - 1},
		{
			rule: "the window is closed", command: qr, at: 90 * time.Minute,
			reason: fault.CheckInWindow, metadata: window,
		},
		{
			rule: "the window is closed for GPS", command: near, at: 90 * time.Minute,
			reason: fault.CheckInWindow, metadata: window,
		},
		{
			rule: "the window is closed for staff who scan", edit: staff, command: qr, at: 90 * time.Minute,
			reason: fault.CheckInWindow, metadata: window,
		},
		{rule: "staff can check in from a day before", edit: staff, command: manual, at: -24 * time.Hour},
		{
			rule: "staff cannot check in earlier", edit: staff, command: manual, at: -24*time.Hour - 1,
			reason: fault.CheckInWindow, metadata: map[string]string{"opens_at": "2026-03-28T18:00:00Z"},
		},
		{
			rule: "staff can check in earlier if members can", command: manual, at: -48 * time.Hour,
			edit: all(staff, func(f *checkin.Facts) { f.Window.OpensBefore = 48 * time.Hour }),
		},
		{rule: "staff can correct attendance weeks later", edit: staff, command: manual, at: 1000 * time.Hour},

		{rule: "a fresh, precise position", command: reported(200, checkin.MaxPositionAge)},
		{
			rule: "an old position", command: reported(0, checkin.MaxPositionAge+1),
			reason: fault.GPSOutdated, metadata: map[string]string{"max_seconds": "120"},
		},
		{
			rule: "a position that may be anywhere", command: reported(200.5, 0),
			reason: fault.GPSImprecise, metadata: map[string]string{"accuracy_meters": "201", "max_meters": "200"},
		},
		{rule: "the accuracy of phones in buildings is enough for a small radius", edit: small, command: reported(100, 0)},
		{
			rule: "a worse one is not", edit: small, command: reported(101, 0),
			reason: fault.GPSImprecise, metadata: map[string]string{"accuracy_meters": "101", "max_meters": "100"},
		},
		{
			rule: "a poor accuracy does not extend the distance", edit: small,
			command: checkin.Request{Method: checkin.GPS, Position: checkin.Position{
				Point: checkin.Point{Latitude: studio.Latitude + 0.0004, Longitude: studio.Longitude}, Accuracy: 90,
			}},
			reason: fault.GPSTooFar, metadata: map[string]string{"distance_meters": "45", "max_meters": "30"},
		},
		{rule: "a position where the code is needed", edit: code, command: near, reason: fault.QRRequired},
		{rule: "the code where it is needed", edit: code, command: qr},
		{rule: "staff where the code is needed", edit: all(code, staff), command: manual},

		{rule: "an online session has no position", edit: online, command: near, reason: fault.GPSNotAvailable},
		{rule: "an online session has codes", edit: online, command: qr},
		{
			rule: "a location without a position", edit: func(f *checkin.Facts) { f.Location = nil }, command: near,
			reason: fault.GPSNotAvailable,
		},
		{
			rule: "a policy without GPS", edit: func(f *checkin.Facts) { f.GPSMaxMeters = 0 }, command: near,
			reason: fault.GPSNotAvailable,
		},
		{
			rule: "too far", command: gps(52.5220, 13.4050),
			reason: fault.GPSTooFar, metadata: map[string]string{"distance_meters": "223", "max_meters": "200"},
		},
		{
			rule: "near enough for a wider policy", command: gps(52.5220, 13.4050),
			edit: func(f *checkin.Facts) { f.GPSMaxMeters = 223 },
		},
		{
			rule: "the other side of the world", command: gps(-52.52, -166.595),
			reason: fault.GPSTooFar, metadata: map[string]string{"distance_meters": "20015115", "max_meters": "200"},
		},
		{rule: "not on Earth", command: gps(91, 0), reason: fault.InvalidField},
		{rule: "unknown method", command: checkin.Request{Method: "RFID"}, reason: fault.InvalidField},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			f := facts()
			if c.edit != nil {
				c.edit(&f)
			}
			now := starts.Add(c.at)
			plan, err := checkin.Decide(f, c.command, now)
			if c.reason != "" {
				var refusal *fault.Error
				must.True(
					t, errors.As(err, &refusal) && refusal.Reason == c.reason, must.Sprintf("%+v, %v; want %s", plan, err, c.reason),
				)
				test.Eq(t, c.metadata, refusal.Metadata)
				return
			}
			want := checkin.Result{Status: checkin.Attended, CheckedInAt: now, Method: c.command.Method}
			if c.already {
				want = checkin.Result{Status: checkin.Attended, CheckedInAt: first, Method: checkin.GPS, Unchanged: true}
			}
			diff := cmp.Diff(want, plan)
			test.True(t, err == nil && diff == "", test.Sprintf("%v\n%s", err, diff))
		})
	}
}

func TestUndo_RevertsOnlyACheckIn(t *testing.T) {
	t.Parallel()
	for status, want := range map[checkin.Status]checkin.Result{
		checkin.Attended:  {Status: checkin.Confirmed},
		checkin.Confirmed: {Status: checkin.Confirmed, Unchanged: true},
		checkin.Pending:   {},
		checkin.NoShow:    {},
		checkin.Cancelled: {},
		checkin.Expired:   {},
	} {
		f := facts()
		f.Status, f.CheckedInAt, f.Method = status, starts, checkin.QR
		plan, err := checkin.Undo(f)
		refused := want == (checkin.Result{})
		test.True(
			t, plan == want && refused == (fault.ReasonOf(err) == fault.NotConfirmed),
			test.Sprintf("%s: %+v, %v", status, plan, err),
		)
	}
}

// drawFacts draws any booking and a time around its session.
func drawFacts(t *rapid.T) (checkin.Facts, time.Time) {
	f := facts()
	f.Status = rapid.SampledFrom([]checkin.Status{
		checkin.Pending, checkin.Confirmed, checkin.Attended, checkin.NoShow, checkin.Cancelled, checkin.Expired,
	}).Draw(t, "status")
	f.CheckedInAt, f.Method = starts.Add(-time.Minute), checkin.QR
	f.SessionCancelled = rapid.Bool().Draw(t, "cancelled")
	f.Delivery = rapid.SampledFrom([]checkin.Delivery{checkin.InPerson, checkin.Feed}).Draw(t, "delivery")
	f.Staff = rapid.Bool().Draw(t, "staff")
	return f, starts.Add(time.Duration(rapid.IntRange(-3000, 3000).Draw(t, "minutes")) * time.Minute)
}

func drawCommand(t *rapid.T) checkin.Request {
	return checkin.Request{
		Method: rapid.SampledFrom([]checkin.Method{checkin.Manual, checkin.QR, checkin.GPS}).Draw(t, "method"),
		Position: checkin.Position{Point: checkin.Point{
			Latitude:  studio.Latitude + rapid.Float64Range(-0.01, 0.01).Draw(t, "north"),
			Longitude: studio.Longitude + rapid.Float64Range(-0.01, 0.01).Draw(t, "east"),
		}},
	}
}

func TestDecide_AcceptsOnlyAllowedCheckIns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, now := drawFacts(t)
		c := drawCommand(t)
		plan, err := checkin.Decide(f, c, now)
		if err != nil {
			must.EqOp(t, (checkin.Result{}), plan, must.Sprint("refused, and planned"))
			return
		}
		must.True(
			t, plan.Unchanged == (f.Status == checkin.Attended) && (plan.Unchanged || f.Status == checkin.Confirmed),
			must.Sprintf("%s became %+v", f.Status, plan),
		)
		must.False(t, c.Method == checkin.Manual && !f.Staff, must.Sprint("a member checked in by hand"))
		if plan.Unchanged {
			return
		}
		must.True(
			t, !f.SessionCancelled && (c.Method == checkin.Manual || f.Window.Open(f.Starts, f.Ends, now)),
			must.Sprint("the session takes no check-ins"),
		)
		if c.Method == checkin.GPS {
			distance := expect.Value(checkin.Distance(studio, c.Position.Point))(t)
			must.True(
				t, distance <= f.GPSMaxMeters && f.Delivery != checkin.Feed, must.Sprintf("%g m from the session", distance),
			)
		}

		f.Status, f.CheckedInAt, f.Method = plan.Status, plan.CheckedInAt, plan.Method
		again, err := checkin.Decide(f, drawCommand(t), now.Add(time.Minute))
		must.False(
			t, err == nil && (!again.Unchanged || again.CheckedInAt != plan.CheckedInAt || again.Method != plan.Method),
			must.Sprintf("the second time it became %+v", again),
		)
		undone := expect.Value(checkin.Undo(f))(t)
		must.EqOp(t, (checkin.Result{Status: checkin.Confirmed}), undone, must.Sprintf("undone it became %+v", undone))
	})
}

func TestDecide_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	_, err := checkin.Decide(facts(), checkin.Request{Method: "FAX"}, starts)
	test.EqOp(t, "INVALID_FIELD @method", faulttest.Text(err))
	_, err = checkin.Decide(facts(), at(checkin.Point{Latitude: -90.1}), starts)
	test.EqOp(t, "INVALID_FIELD @point", faulttest.Text(err))
}

// The radius belongs to the location. A radius of a meter or less is one, too.
func TestDecide_AcceptsPositionsUpToTheRadius(t *testing.T) {
	t.Parallel()
	near := checkin.Point{Latitude: studio.Latitude + 0.000005, Longitude: studio.Longitude}
	f := facts()
	radius, err := checkin.Distance(studio, near)
	test.NoError(t, err)
	test.Between(t, 0.1, radius, 1)
	f.GPSMaxMeters = radius
	_, err = checkin.Decide(f, at(near), starts)
	test.NoError(t, err)
}

// Rounding must not give a distance that is no number, also between antipodes.
func TestDistance_OfAntipodesIsHalfTheGlobe(t *testing.T) {
	t.Parallel()
	for latitude := -90.0; latitude <= 90; latitude += 3.7 {
		for longitude := -180.0; longitude <= 0; longitude += 3.7 {
			got := expect.Value(checkin.Distance(checkin.Point{Latitude: latitude, Longitude: longitude},
				checkin.Point{Latitude: -latitude, Longitude: longitude + 180}))(t)
			must.InDelta(t, math.Pi*6_371_008.8, got, 1000)
		}
	}
}
