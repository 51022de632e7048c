package checkin_test

import (
	"math"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
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

type set = vary.Fields

func TestDecide_ChecksStatusWindowAndDistance(t *testing.T) {
	t.Parallel()
	type request = checkin.Request
	const (
		day    = 24 * time.Hour
		state  = "NOT_CONFIRMED status="
		gone   = "BOOKING_CANCELLED status="
		window = "CHECK_IN_WINDOW closes_at=2026-03-29T19:30:00Z opens_at=2026-03-29T17:00:00Z"
	)
	first := starts.Add(-40 * time.Minute)
	manual, qr := request{Method: checkin.Manual}, request{Method: checkin.QR}
	gps := func(latitude, longitude float64) request {
		return at(checkin.Point{Latitude: latitude, Longitude: longitude})
	}
	reported := func(accuracy float64, age time.Duration) request {
		return vary.From(at(studio), set{"Position.Accuracy": accuracy, "Position.Age": age})
	}
	near, far := gps(52.5205, 13.4055), gps(52.5220, 13.4050)
	staff := set{"Staff": true}
	attended := set{"Status": checkin.Attended, "CheckedInAt": first, "Method": checkin.GPS}
	attendedStaff := set{"Status": checkin.Attended, "CheckedInAt": first, "Method": checkin.GPS, "Staff": true}
	for rule, tt := range map[string]struct {
		differ  set
		request request
		at      time.Duration // after the start
		want    string
	}{
		"a member scans":                   {nil, qr, 0, ""},
		"a member is near":                 {nil, near, 0, ""},
		"staff check in a member":          {staff, manual, 0, ""},
		"a member cannot check in by hand": {nil, manual, 0, "PERMISSION_DENIED"},
		"not even after staff did":         {attended, manual, 0, "PERMISSION_DENIED"},
		"scanning twice is harmless":       {attended, qr, 0, ""},
		"scanning twice, after the window": {attended, qr, 5 * time.Hour, ""},
		"scanning twice, from far away":    {attended, gps(0, 0), 0, ""},
		"staff after a scan is harmless":   {attendedStaff, manual, 0, ""},
		"a hold is not confirmed":          {set{"Status": checkin.Pending}, qr, 0, state + "PENDING"},
		"a no-show must be undone first":   {set{"Status": checkin.NoShow, "Staff": true}, manual, 0, state + "NO_SHOW"},
		"cancelled":                        {set{"Status": checkin.Cancelled}, qr, 0, gone + "CANCELLED"},
		"expired":                          {set{"Status": checkin.Expired}, qr, 0, gone + "EXPIRED"},
		"there is no booking":              {set{"Status": ""}, qr, 0, "NOT_BOOKED"},
		"the session is cancelled": {
			set{"SessionCancelled": true, "Staff": true}, manual, 0, "SESSION_NOT_OPEN state=cancelled",
		},
		"the window opens":                 {nil, qr, -time.Hour, ""},
		"just before the window opens":     {nil, qr, -time.Hour - 1, window},
		"the last instant of the window":   {nil, qr, 90*time.Minute - 1, ""},
		"the window is closed":             {nil, qr, 90 * time.Minute, window},
		"it is closed for GPS":             {nil, near, 90 * time.Minute, window},
		"it is closed for staff who scan":  {staff, qr, 90 * time.Minute, window},
		"staff check in from a day before": {staff, manual, -day, ""},
		"staff cannot check in earlier":    {staff, manual, -day - 1, "CHECK_IN_WINDOW opens_at=2026-03-28T18:00:00Z"},
		"staff can if members can":         {set{"Staff": true, "Window.OpensBefore": 2 * day}, manual, -2 * day, ""},
		"staff can correct it weeks later": {staff, manual, 1000 * time.Hour, ""},
		"a fresh, precise position":        {nil, reported(200, checkin.MaxPositionAge), 0, ""},
		"an old position":                  {nil, reported(0, checkin.MaxPositionAge+1), 0, "GPS_OUTDATED max_seconds=120"},
		"one that may be anywhere":         {nil, reported(200.5, 0), 0, "GPS_IMPRECISE accuracy_meters=201 max_meters=200"},
		"the accuracy of phones in houses": {set{"GPSMaxMeters": 30}, reported(100, 0), 0, ""},
		"a worse one for a small radius": {
			set{"GPSMaxMeters": 30}, reported(101, 0), 0, "GPS_IMPRECISE accuracy_meters=101 max_meters=100",
		},
		"a poor accuracy does not extend the distance": {
			set{"GPSMaxMeters": 30}, vary.From(gps(studio.Latitude+0.0004, studio.Longitude), set{"Position.Accuracy": 90.0}), 0,
			"GPS_TOO_FAR distance_meters=45 max_meters=30",
		},
		"a position where the code is needed": {set{"RequiresQR": true}, near, 0, "QR_REQUIRED"},
		"the code where it is needed":         {set{"RequiresQR": true}, qr, 0, ""},
		"staff where the code is needed":      {set{"RequiresQR": true, "Staff": true}, manual, 0, ""},
		"online there is no position":         {set{"Delivery": checkin.Feed}, near, 0, "GPS_NOT_AVAILABLE"},
		"online there are codes":              {set{"Delivery": checkin.Feed}, qr, 0, ""},
		"a location without a position":       {set{"Location": nil}, near, 0, "GPS_NOT_AVAILABLE"},
		"a location that is nowhere":          {set{"Location.Latitude": 91.0}, near, 0, "GPS_NOT_AVAILABLE"},
		"a policy without GPS":                {set{"GPSMaxMeters": nil}, near, 0, "GPS_NOT_AVAILABLE"},
		"too far":                             {nil, far, 0, "GPS_TOO_FAR distance_meters=223 max_meters=200"},
		"near enough for a wider policy":      {set{"GPSMaxMeters": 223}, far, 0, ""},
		"the other side of the world": {
			nil, gps(-52.52, -166.595), 0, "GPS_TOO_FAR distance_meters=20015115 max_meters=200",
		},
		"not on Earth":   {nil, gps(91, 0), 0, "INVALID_FIELD @point"},
		"south of it":    {nil, gps(-90.1, 0), 0, "INVALID_FIELD @point"},
		"unknown method": {nil, request{Method: "RFID"}, 0, "INVALID_FIELD @method"},
	} {
		now := starts.Add(tt.at)
		want := checkin.Result{Status: checkin.Attended, CheckedInAt: now, Method: tt.request.Method}
		if tt.differ["Status"] == checkin.Attended {
			want = checkin.Result{Status: checkin.Attended, CheckedInAt: first, Method: checkin.GPS, Unchanged: true}
		}
		if tt.want != "" {
			want = checkin.Result{}
		}
		got, err := checkin.Decide(vary.From(facts(), tt.differ), tt.request, now)
		test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(rule))
		test.EqOp(t, want, got, test.Sprint(rule))
	}
}

func TestUndo_RevertsOnlyACheckIn(t *testing.T) {
	t.Parallel()
	for status, want := range map[checkin.Status]checkin.Result{
		checkin.Attended:  {Status: checkin.Confirmed},
		checkin.Confirmed: {Status: checkin.Confirmed, Unchanged: true},
		checkin.Pending:   {}, checkin.NoShow: {}, checkin.Cancelled: {}, checkin.Expired: {},
	} {
		refused := map[checkin.Status]string{
			checkin.Pending: "NOT_CONFIRMED status=PENDING", checkin.NoShow: "NOT_CONFIRMED status=NO_SHOW",
			checkin.Cancelled: "BOOKING_CANCELLED status=CANCELLED", checkin.Expired: "BOOKING_CANCELLED status=EXPIRED",
		}[status]
		got, err := checkin.Undo(vary.From(facts(), set{"Status": status, "CheckedInAt": starts, "Method": checkin.QR}))
		test.EqOp(t, refused, faulttest.Text(err))
		test.EqOp(t, want, got, test.Sprint(status))
	}
}

func TestUndo_LeavesWhatWasKeptOfACancelledSession(t *testing.T) {
	t.Parallel()
	expect.Fault(t, "SESSION_NOT_OPEN state=cancelled")(
		checkin.Undo(vary.From(facts(), set{"Status": checkin.Attended, "SessionCancelled": true})))
}

// drawFacts draws any booking and a time around its session.
func drawFacts(t *rapid.T) (checkin.Facts, time.Time) {
	yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
	f := vary.From(facts(), set{
		"Status": rapid.SampledFrom([]checkin.Status{
			checkin.Pending, checkin.Confirmed, checkin.Attended, checkin.NoShow, checkin.Cancelled, checkin.Expired,
		}).Draw(t, "status"),
		"CheckedInAt": starts.Add(-time.Minute), "Method": checkin.QR, "SessionCancelled": yes("cancelled"),
		"Delivery": rapid.SampledFrom([]checkin.Delivery{checkin.InPerson, checkin.Feed}).Draw(t, "delivery"),
		"Staff":    yes("staff"),
	})
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
		must.EqOp(t, (f.Status == checkin.Attended), plan.Unchanged, must.Sprintf("%s became %+v", f.Status, plan))
		must.True(t, plan.Unchanged || f.Status == checkin.Confirmed, must.Sprintf("%s became %+v", f.Status, plan))
		must.False(t, c.Method == checkin.Manual && !f.Staff, must.Sprint("a member checked in by hand"))
		if plan.Unchanged {
			return
		}
		must.False(t, f.SessionCancelled, must.Sprint("the session takes no check-ins"))
		must.True(t, c.Method == checkin.Manual || f.Window.Open(f.Starts, f.Ends, now),
			must.Sprint("the session takes no check-ins"))
		if c.Method == checkin.GPS {
			distance := expect.Value(checkin.Distance(studio, c.Position.Point))(t)
			must.LessEq(t, f.GPSMaxMeters, distance, must.Sprintf("%g m from the session", distance))
			must.NotEqOp(t, checkin.Feed, f.Delivery, must.Sprintf("%g m from the session", distance))
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

// The radius belongs to the location. A radius of a meter or less is one, too.
func TestDecide_AcceptsPositionsUpToTheRadius(t *testing.T) {
	t.Parallel()
	near := checkin.Point{Latitude: studio.Latitude + 0.000005, Longitude: studio.Longitude}
	radius := expect.Value(checkin.Distance(studio, near))(t)
	test.Between(t, 0.1, radius, 1)
	expect.OK(t)(checkin.Decide(vary.From(facts(), set{"GPSMaxMeters": radius}), at(near), starts))
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

func TestProof_IsACodeOrAPosition(t *testing.T) {
	t.Parallel()
	door := checkin.Position{Point: checkin.Point{Latitude: 38}}
	nowhere := checkin.Position{Point: checkin.Point{Latitude: 91}}
	code, here := checkin.Request{Method: checkin.QR}, checkin.Request{Method: checkin.GPS, Position: door}
	for name, tt := range map[string]struct {
		proof checkin.Proof
		want  checkin.Request
		err   string
	}{
		"a code":                   {proof: checkin.Proof{QR: "x"}, want: code},
		"a position":               {proof: checkin.Proof{Position: &door}, want: here},
		"a position that is none":  {proof: checkin.Proof{Position: &nowhere}, err: "INVALID_FIELD @position"},
		"neither":                  {err: "INVALID_FIELD @proof"},
		"both":                     {proof: checkin.Proof{QR: "x", Position: &door}, err: "INVALID_FIELD @proof"},
		"a code and no real place": {proof: checkin.Proof{QR: "x", Position: &nowhere}, err: "INVALID_FIELD @proof"},
	} {
		got, err := tt.proof.Request()
		expect.Fault(t, tt.err, name)(err)
		test.Eq(t, tt.want, got, test.Sprint(name))
	}
}
