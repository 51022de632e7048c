package notify

import (
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
)

// studioID is a tenant that tries again at the start of an hour.
var studioID = tenant.TenantID{}

// hourly is a counter of text messages, some hours from now.
func hourly(country string, hours, sent, waiting int) SendingHour {
	hour := monday.Truncate(time.Hour).Add(time.Duration(hours) * time.Hour)
	return SendingHour{SendingKey{sms, country, hour}, sent, waiting, 0}
}

func TestRoomAt_IsWhereLimitsOfAllCountriesHaveRoom(t *testing.T) {
	t.Parallel()
	limits := SendingLimits{sms: {Total: 10, Abroad: 3}}
	hour := func(n int) time.Time { return monday.Truncate(time.Hour).Add(time.Duration(n) * time.Hour) }
	slowly := []SendingHour{hourly("DE", -3, 1, 0), hourly("DE", -1, 9, 0)}
	for name, c := range map[string]struct {
		country string
		hours   []SendingHour
		want    time.Time
	}{
		"nothing sent":                      {"DE", nil, time.Time{}},
		"room for one":                      {"DE", []SendingHour{hourly("DE", 0, 9, 0)}, time.Time{}},
		"used up now":                       {"DE", []SendingHour{hourly("DE", 0, 10, 0)}, hour(25)},
		"used up a day ago":                 {"DE", []SendingHour{hourly("DE", -24, 10, 0)}, hour(1)},
		"used up before":                    {"DE", []SendingHour{hourly("DE", -25, 10, 0)}, time.Time{}},
		"used up little by little":          {"DE", slowly, hour(22)},
		"the first free hour is taken":      {"DE", append(slowly, hourly("DE", 22, 0, 1)), hour(24)},
		"what waits does not hold back now": {"DE", []SendingHour{hourly("DE", 1, 0, 10)}, time.Time{}},
		"another country, room":             {"FR", []SendingHour{hourly("FR", 0, 2, 0), hourly("PT", 0, 3, 0)}, time.Time{}},
		"another country, used up":          {"FR", []SendingHour{hourly("FR", -5, 3, 0)}, hour(20)},
		"used up by other countries":        {"DE", []SendingHour{hourly("FR", -5, 5, 0), hourly("PT", -4, 5, 0)}, hour(20)},
		"used up in the country and in all": {"FR", []SendingHour{hourly("FR", -5, 3, 0), hourly("DE", -2, 7, 0)}, hour(20)},
		"beyond the limit":                  {"DE", []SendingHour{hourly("DE", -9, 5, 0), hourly("DE", -2, 12, 0)}, hour(23)},
		"a number of no country":            {UnknownCountry, []SendingHour{hourly(UnknownCountry, -1, 3, 0)}, hour(24)},
	} {
		test.EqOp(t, c.want, NewSending(studioID, limits, nil, c.hours, []string{"DE"}, monday).RoomAt(sms, c.country),
			test.Sprint(name))
	}
	test.True(t, NewSending(studioID, SendingLimits{}, nil, nil, nil, monday).RoomAt(sms, "DE").IsZero())
	test.True(t, (*Sending)(nil).RoomAt(sms, "DE").IsZero(), test.Sprint("no limits"))
}

// Tenants do not all try again at the same moment.
func TestRoomAt_SpreadsTenants(t *testing.T) {
	t.Parallel()
	last := tenant.TenantID{UUID: tenant.UUID{14: 0xff, 15: 0xff}}
	at := NewSending(last, SendingLimits{sms: {Total: 1}}, nil, []SendingHour{hourly("DE", -24, 1, 0)}, nil, monday).
		RoomAt(sms, "DE")
	test.EqOp(t, monday.Truncate(time.Hour).Add(time.Hour+sendingSpread-time.Millisecond*10).Truncate(time.Second),
		at.Truncate(time.Second))
}

func TestAlarms_TellOfEachShareOnceADay(t *testing.T) {
	t.Parallel()
	limits := SendingLimits{sms: {Total: 10, Abroad: 2}}
	var stored []SendingHour
	send := func(now time.Time, country string, n int) []SendingAlarm {
		s := NewSending(studioID, limits, nil, stored, []string{"DE"}, now)
		for range n {
			s.Count(sms, country)
		}
		alarms := s.Alarms()
		stored = append(stored, s.Changes()...)
		return alarms
	}
	all := func(percent, used int) SendingAlarm { return SendingAlarm{sms, "", percent, 10, used} }
	for _, c := range []struct {
		after   time.Duration
		country string
		n       int
		want    []SendingAlarm
	}{
		{0, "DE", 7, nil},
		{0, "DE", 1, []SendingAlarm{all(80, 8)}},
		{time.Hour, "DE", 1, nil},
		{time.Hour, "FR", 2, []SendingAlarm{all(100, 11), {sms, "FR", 100, 2, 2}}},
		{2 * time.Hour, "DE", 20, []SendingAlarm{all(300, 31)}},
		{26 * time.Hour, "DE", 1, nil},
		{28 * time.Hour, "DE", 7, []SendingAlarm{all(80, 8)}},
	} {
		test.Eq(t, c.want, send(monday.Add(c.after), c.country, c.n), test.Sprint(c.after, c.country, c.n))
	}
}

func TestQuotas_ListWhatIsLimited(t *testing.T) {
	t.Parallel()
	limits := SendingLimits{sms: {Total: 10, Abroad: 2}, email: {Total: 5}}
	mail := SendingHour{SendingKey{email, "", monday.Truncate(time.Hour)}, 10, 0, 0}
	hour := monday.Truncate(time.Hour)
	counted := []SendingHour{
		hourly("DE", 0, 3, 0), hourly("FR", -1, 2, 0), hourly("FR", 24, 0, 1), hourly("PT", -1, 0, 0), mail,
	}
	want := []SendingQuota{{sms, "", 10, 8, 2, time.Time{}, 1}}
	for _, country := range []string{"AT", "BE", "CH"} { // by name, after all countries together
		counted = append(counted, hourly(country, 0, 1, 0))
		want = append(want, SendingQuota{sms, country, 2, 1, 0, time.Time{}, 1})
	}
	counted = append(counted, hourly("US", 25, 0, 1)) // deferred, and none was sent
	got := NewSending(studioID, limits, []Standing{{Channel: email, Level: 1}}, counted, []string{"DE"}, monday).Quotas()
	test.Eq(t, append(want,
		SendingQuota{sms, "FR", 2, 2, 1, hour.Add(24 * time.Hour), 1}, SendingQuota{sms, "US", 2, 0, 1, time.Time{}, 1},
		SendingQuota{email, "", 10, 10, 0, hour.Add(25 * time.Hour), 2},
	), got)
}

// What is deferred takes its room from the next messages, so that an hour gets no more than it has room for.
func TestWait_TakesTheRoomOfAnHour(t *testing.T) {
	t.Parallel()
	s := NewSending(studioID, SendingLimits{sms: {Total: 2}}, nil, []SendingHour{
		hourly("DE", -20, 1, 0), hourly("DE", -10, 1, 0),
	}, nil, monday)
	var hours []time.Duration
	for range 4 {
		at := s.RoomAt(sms, "DE")
		s.Wait(sms, "DE", at)
		hours = append(hours, at.Sub(monday.Truncate(time.Hour)))
	}
	test.Eq(t, []time.Duration{5 * time.Hour, 15 * time.Hour, 30 * time.Hour, 40 * time.Hour}, hours)
	test.Eq(t, []SendingHour{
		hourly("DE", 5, 0, 1), hourly("DE", 15, 0, 1), hourly("DE", 30, 0, 1), hourly("DE", 40, 0, 1),
	}, s.Changes())
	none := (*Sending)(nil)
	test.False(t, none.Limited(sms))
	test.Eq(t, time.Time{}, none.RoomAt(sms, "DE"))
	test.Eq(t, SendingKey{}, none.Count(sms, "DE"))
	test.Eq(t, []SendingAlarm(nil), none.Alarms())
	test.Eq(t, []SendingHour(nil), none.Changes())
}

// A channel whose quota is used up holds back what can wait, and nothing else. Another channel is used if there is one.
func TestDecide_DefersOnlyWhatCanWait(t *testing.T) {
	t.Parallel()
	later := monday.Add(3 * time.Hour)
	full := map[delivery.Channel]time.Time{sms: later, email: later}
	for _, topic := range append(Topics(), ContactCode, ContactChanged, DomainLapsed, QuotaReached) {
		for _, c := range []delivery.Channel{sms, push, email} {
			s := newScene(t)
			until, why := heldUntil(topic, c, s.S, Recipient{Zone: s.R.Zone, Full: full}, Facts{}, monday)
			want := topic.CanWait() && c != push
			test.EqOp(t, want, why == SendingQuotaReason, test.Sprint(topic, c))
			test.EqOp(t, want, until.Equal(later), test.Sprint(topic, c))
		}
	}
	allow := Preferences{{Reminder, sms}: true, {Reminder, email}: true}
	early, late := later.Add(-time.Minute), later.Add(time.Hour)
	wait := func(c delivery.Channel, until time.Time) Action {
		return Action{Defer, c, until, SendingQuotaReason}
	}
	for name, c := range map[string]struct {
		sms, email time.Time
		expires    time.Duration
		want       Action
	}{
		"room":                  {time.Time{}, time.Time{}, 5 * time.Hour, Action{Kind: Send, Channel: sms}},
		"another channel":       {later, time.Time{}, 5 * time.Hour, Action{Kind: Send, Channel: email}},
		"no channel":            {later, later, 5 * time.Hour, wait(sms, later)},
		"no channel in time":    {later, later, 2 * time.Hour, Action{Drop, email, time.Time{}, SendingQuotaReason}},
		"the earliest of both":  {later, early, 5 * time.Hour, wait(email, early)},
		"one of both in time":   {later, late, 200 * time.Minute, wait(sms, later)},
		"the other one in time": {late, later, 200 * time.Minute, wait(email, later)},
	} {
		s := newScene(t)
		s.R.Devices, s.R.Preferences = nil, allow
		s.R.Full = map[delivery.Channel]time.Time{sms: c.sms, email: c.email}
		s.N.ExpiresAt = monday.Add(c.expires)
		test.Eq(t, c.want, Decide(s.N, s.S, s.R, s.M, monday), test.Sprint(name))
	}
}

// sendingWeek stores counters as the database does.
type sendingWeek struct {
	limits    SendingLimits
	standings []Standing
	stored    map[SendingKey]SendingHour
}

func (w *sendingWeek) at(now time.Time) *Sending {
	var hours []SendingHour
	for _, h := range w.stored {
		if !h.Hour.Before(SendingSince(now)) {
			hours = append(hours, h)
		}
	}
	return NewSending(studioID, w.limits, w.standings, hours, []string{"DE", "AT"}, now)
}

func (w *sendingWeek) store(s *Sending) {
	for _, c := range s.Changes() {
		h := w.stored[c.SendingKey]
		h.SendingKey = c.SendingKey
		h.Sent, h.Waiting, h.Alarm = h.Sent+c.Sent, h.Waiting+c.Waiting, max(h.Alarm, c.Alarm)
		w.stored[c.SendingKey] = h
	}
}

// A message that can wait is sent only if the 24 hours up to it, itself included, have no more messages than the
// limits. What is deferred comes later than now.
func TestSending_NeverExceedsALimitInADay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limits := SendingLimits{sms: {rapid.IntRange(1, 12).Draw(t, "total"), rapid.IntRange(1, 4).Draw(t, "abroad")}}
		w := sendingWeek{limits: limits, stored: make(map[SendingKey]SendingHour)}
		sent := make(map[string][]time.Time) // by country; "": all
		now := monday
		for range rapid.IntRange(1, 60).Draw(t, "batches") {
			now = now.Add(time.Duration(rapid.IntRange(0, 500).Draw(t, "minutes")) * time.Minute)
			s := w.at(now)
			for range rapid.IntRange(1, 6).Draw(t, "messages") {
				country := rapid.SampledFrom([]string{"DE", "AT", "FR", UnknownCountry}).Draw(t, "country")
				waits := rapid.IntRange(0, 3).Draw(t, "waits") > 0
				at := s.RoomAt(sms, country)
				if waits && !at.IsZero() {
					must.True(t, at.After(now))
					s.Wait(sms, country, at)
					continue
				}
				s.Count(sms, country)
				for _, place := range []string{"", country} {
					sent[place] = append(sent[place], now)
				}
				if !waits {
					continue
				}
				for place, limit := range map[string]int{"": limits[sms].Total, country: limits[sms].Abroad} {
					day := slices.DeleteFunc(slices.Clone(sent[place]), func(then time.Time) bool {
						return !then.After(now.Add(-24 * time.Hour))
					})
					if place != "DE" && place != "AT" {
						must.True(t, len(day) <= limit, must.Sprintf("%d to %q in a day, of %d", len(day), place, limit))
					}
				}
			}
			w.store(s)
		}
	})
}

// With a better standing a message never waits longer.
func TestSending_IsMonotoneInStanding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limits := SendingLimits{sms: {rapid.IntRange(1, 12).Draw(t, "total"), rapid.IntRange(1, 4).Draw(t, "abroad")}}
		var hours []SendingHour
		for range rapid.IntRange(0, 20).Draw(t, "hours") {
			hours = append(hours, hourly(
				rapid.SampledFrom([]string{"DE", "FR"}).Draw(t, "country"), rapid.IntRange(-26, 60).Draw(t, "hour"),
				rapid.IntRange(0, 9).Draw(t, "sent"), rapid.IntRange(0, 9).Draw(t, "waiting"),
			))
		}
		for _, country := range []string{"DE", "FR"} {
			at := make([]time.Time, 2)
			for i := range at {
				level := []Standing{{Channel: sms, Level: rapid.IntRange(3*i, 3*i+3).Draw(t, "level")}}
				at[i] = NewSending(studioID, limits, level, hours, []string{"DE"}, monday).RoomAt(sms, country)
			}
			must.False(t, at[1].After(at[0]), must.Sprint(at))
		}
	})
}
