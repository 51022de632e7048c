package checkin_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/checkin"
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

func TestDecide_ChecksStatusWindowAndDistance(t *testing.T) {
	t.Parallel()
	var (
		staff  = func(f *checkin.Facts) { f.Staff = true }
		status = func(s checkin.Status) func(*checkin.Facts) { return func(f *checkin.Facts) { f.Status = s } }
		first  = starts.Add(-40 * time.Minute)
		manual = checkin.Request{Method: checkin.Manual}
		qr     = checkin.Request{Method: checkin.QR}
		gps    = func(latitude, longitude float64) checkin.Request {
			return checkin.Request{Method: checkin.GPS, Point: checkin.Point{Latitude: latitude, Longitude: longitude}}
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
		online = func(f *checkin.Facts) { f.Delivery = checkin.Feed }
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
				if !errors.As(err, &refusal) || refusal.Reason != c.reason {
					t.Fatalf("%+v, %v; want %s", plan, err, c.reason)
				}
				if diff := cmp.Diff(c.metadata, refusal.Metadata); diff != "" {
					t.Error(diff)
				}
				return
			}
			want := checkin.Result{Status: checkin.Attended, CheckedInAt: now, Method: c.command.Method}
			if c.already {
				want = checkin.Result{Status: checkin.Attended, CheckedInAt: first, Method: checkin.GPS, Unchanged: true}
			}
			if diff := cmp.Diff(want, plan); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
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
		if refused := want == (checkin.Result{}); plan != want || refused != (fault.ReasonOf(err) == fault.NotConfirmed) {
			t.Errorf("%s: %+v, %v", status, plan, err)
		}
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
		Point: checkin.Point{
			Latitude:  studio.Latitude + rapid.Float64Range(-0.01, 0.01).Draw(t, "north"),
			Longitude: studio.Longitude + rapid.Float64Range(-0.01, 0.01).Draw(t, "east"),
		},
	}
}

func TestDecide_AcceptsOnlyAllowedCheckIns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, now := drawFacts(t)
		c := drawCommand(t)
		plan, err := checkin.Decide(f, c, now)
		if err != nil {
			if plan != (checkin.Result{}) {
				t.Fatalf("refused, and planned %+v", plan)
			}
			return
		}
		if plan.Unchanged != (f.Status == checkin.Attended) || !plan.Unchanged && f.Status != checkin.Confirmed {
			t.Fatalf("%s became %+v", f.Status, plan)
		}
		if c.Method == checkin.Manual && !f.Staff {
			t.Fatal("a member checked in by hand")
		}
		if plan.Unchanged {
			return
		}
		if f.SessionCancelled || c.Method != checkin.Manual && !f.Window.Open(f.Starts, f.Ends, now) {
			t.Fatal("the session takes no check-ins")
		}
		if c.Method == checkin.GPS {
			distance, err := checkin.Distance(studio, c.Point)
			if err != nil || distance > f.GPSMaxMeters || f.Delivery == checkin.Feed {
				t.Fatalf("%g m from the session, %v", distance, err)
			}
		}

		f.Status, f.CheckedInAt, f.Method = plan.Status, plan.CheckedInAt, plan.Method
		again, err := checkin.Decide(f, drawCommand(t), now.Add(time.Minute))
		if err == nil && (!again.Unchanged || again.CheckedInAt != plan.CheckedInAt || again.Method != plan.Method) {
			t.Fatalf("the second time it became %+v", again)
		}
		if undone, err := checkin.Undo(f); err != nil || undone != (checkin.Result{Status: checkin.Confirmed}) {
			t.Fatalf("undone it became %+v, %v", undone, err)
		}
	})
}
