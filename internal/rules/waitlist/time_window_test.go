package waitlist_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestWants_MatchesExactly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entry waitlist.Entry
		want  bool
	}{
		"the session":      {waitlist.Entry{}, true},
		"its staff":        {waitlist.Entry{Coach: jess}, true},
		"other staff":      {waitlist.Entry{Coach: rui}, false},
		"a window":         {waitlist.Entry{Window: timeWindow(nil)}, true},
		"nearly":           {waitlist.Entry{Window: timeWindow(set{"Earliest": clock("18:01")})}, false},
		"on another day":   {waitlist.Entry{Window: timeWindow(set{"From": civiltest.Date("2026-03-19")})}, false},
		"another resource": {waitlist.Entry{Window: timeWindow(set{"Resource": id[tenant.ResourceID](2)})}, false},
		"just at its edges": {
			waitlist.Entry{Window: timeWindow(set{"Earliest": clock("18:00"), "Latest": clock("18:00")})}, true,
		},
	} {
		test.EqOp(t, tt.want, tt.entry.Wants(slot(1)), test.Sprint(name))
	}
}

// A window is refused for the first of these that is wrong with it, and has the start of today if its own has passed.
func TestJoinWindow_ReturnsFirstErrorInOrder(t *testing.T) {
	t.Parallel()
	const closed, last = "CHANNEL_CLOSED @channel channel=", "INVALID_FIELD @window.last_date"
	const denied = "PERMISSION_DENIED @channel channel=PHONE permission=booking.create_for_others"
	acts := set{"May": tenant.Permissions{catalog.CreateForOthers: true}}
	today, other := civiltest.Date("2026-03-18"), id[tenant.EntryID](9)
	asked := waitlist.Entry{Party: 2, Channel: catalog.Online, Coach: jess, Window: new(waitlist.Window{
		From: today.AddDays(1), Until: today.AddDays(3),
	})}
	waits := waitlist.Entry{ID: other, Coach: jess, Window: new(waitlist.Window{From: today, Until: today.AddDays(1)})}
	facts := waitlist.WindowFacts{
		Today: today, MinParty: 1, MaxParty: 4, Channels: []catalog.Channel{catalog.Online, catalog.Phone},
	}
	for name, tt := range map[string]struct {
		asked, facts set
		want         string
	}{
		"a window":                    {},
		"that ends before it starts":  {set{"Window.Until": today}, nil, last},
		"of one day":                  {set{"Window.Until": today.AddDays(1)}, nil, ""},
		"that ended yesterday":        {nil, set{"Today": today.AddDays(4)}, last},
		"that ends today":             {nil, set{"Today": today.AddDays(3)}, ""},
		"of 61 days":                  {set{"Window.Until": today.AddDays(61)}, nil, last},
		"of 60 days":                  {set{"Window.Until": today.AddDays(60)}, nil, ""},
		"a small party":               {set{"Party": 1}, set{"MinParty": 2}, "PARTY_SIZE @party_size max=4 min=2"},
		"a large party":               {set{"Party": 5}, nil, "PARTY_SIZE @party_size max=4 min=1"},
		"a large party of a long one": {set{"Party": 5, "Window.Until": today.AddDays(61)}, nil, last},
		"a closed channel":            {set{"Channel": catalog.WalkIn}, acts, closed + "WALK_IN"},
		"a channel of staff":          {set{"Channel": catalog.Phone}, nil, denied},
		"that channel, by staff":      {set{"Channel": catalog.Phone}, acts, ""},
		"a closed channel, too many":  {set{"Channel": catalog.Phone, "Party": 5}, nil, "PARTY_SIZE @party_size max=4 min=1"},
		"again": {
			nil, set{"Others": []waitlist.Entry{waits}}, "ALREADY_BOOKED entry_id=" + other.String(),
		},
		"again, through a channel of staff": {
			set{"Channel": catalog.Phone}, set{"Others": []waitlist.Entry{waits}}, denied,
		},
		"on other days": {
			nil, set{"Others": []waitlist.Entry{vary.From(waits, set{"Window.Until": today})}}, "",
		},
		"with another coach": {nil, set{"Others": []waitlist.Entry{vary.From(waits, set{"Coach": rui})}}, ""},
		"with another resource": {
			set{"Window.Resource": id[tenant.ResourceID](1)}, set{"Others": []waitlist.Entry{waits}}, "",
		},
		"that started, so that the days in common have passed": {
			nil, set{"Today": today.AddDays(2), "Others": []waitlist.Entry{waits}}, "",
		},
	} {
		e, f := vary.From(asked, tt.asked), vary.From(facts, tt.facts)
		from := e.Window.From
		got, err := waitlist.JoinWindow(e, f)
		expect.Fault(t, tt.want, name)(err)
		test.EqOp(t, from, e.Window.From, test.Sprint(name)) // the request is kept for another attempt
		if err != nil {
			continue
		}
		if from.Before(f.Today) {
			from = f.Today
		}
		test.Eq(t, vary.From(e, set{"Window.From": from}), got, test.Sprint(name))
	}
}

func TestCheckNoSeats_NamesTheSessionThatTheEntryWants(t *testing.T) {
	t.Parallel()
	in := " session_id=" + slot(1).Session.String()
	for name, tt := range map[string]struct {
		window *waitlist.Window
		at     time.Time
		want   string
	}{
		"none that it wants": {timeWindow(set{"From": civiltest.Date("2026-03-19")}), now, ""},
		"one that it wants":  {timeWindow(nil), starts.Add(-1), "SEATS_AVAILABLE" + in},
		"once it has begun":  {timeWindow(nil), starts, ""},
	} {
		open := []waitlist.Slot{vary.From(slot(1), set{"Service": massage}), slot(1)}
		expect.Fault(t, tt.want, name)(waitlist.Entry{Window: tt.window}.CheckNoSeats(open, tt.at))
	}
}

func TestQueues_ReturnsOnePerDay(t *testing.T) {
	t.Parallel()
	w, want := timeWindow(nil), []waitlist.Queue(nil)
	for day := range 3 {
		want = append(want, waitlist.Queue{Location: lisbon, Service: yoga, Date: w.From.AddDays(day)})
	}
	test.Eq(t, want, w.Queues())
}

func TestWindow_Overlaps(t *testing.T) {
	t.Parallel()
	window := func(from, until string) waitlist.Window {
		return waitlist.Window{From: civiltest.Date(from), Until: civiltest.Date(until)}
	}
	w := window("2026-03-10", "2026-03-12")
	for other, want := range map[waitlist.Window]bool{
		window("2026-03-08", "2026-03-09"): false, window("2026-03-08", "2026-03-10"): true,
		window("2026-03-11", "2026-03-11"): true, window("2026-03-12", "2026-03-20"): true,
		window("2026-03-13", "2026-03-20"): false, window("2026-03-01", "2026-03-31"): true,
	} {
		test.EqOp(t, want, w.Overlaps(other), test.Sprint(other))
		test.EqOp(t, want, other.Overlaps(w), test.Sprint(other))
	}
}
