package messages_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Who got no place is told so, once: by mail at once, and by push outside quiet hours, if these end within 12 hours.
func TestWaitlistEnded_IsToldOnce(t *testing.T) {
	t.Parallel()
	type row struct {
		starts time.Time
		quiet  civil.TimeOfDay // the end of quiet hours, which begin at 21:00
		late   time.Duration   // of the sweep
		now    []string
		at8    []string // in the next morning
	}
	both := []string{"WAITLIST_ENDED EMAIL", "WAITLIST_ENDED PUSH"}
	mail, push := both[:1], both[1:]
	eight := civil.TimeOfDay{Hour: 8}
	noon := testkit.Noon.Add(48 * time.Hour)
	night := noon.Add(10 * time.Hour) // 23:00 in Berlin
	messagetest.Each(t, map[string]row{
		"at noon":             {noon, eight, 0, both, nil},
		"at night":            {night, eight, 0, mail, push},
		"in a long night":     {night, civil.TimeOfDay{Hour: 12}, 0, mail, nil},
		"after an outage":     {noon, eight, 11 * time.Hour, mail, nil},
		"after a long outage": {noon, eight, 12 * time.Hour, nil, nil},
	}, func(studio *messagetest.Studio, tt row) {
		expect.OK(studio.T)(studio.App.Messages.UpdateNotificationSettings(studio.T.Context(), studio.Owner, nil,
			func(s *notify.Settings) { s.QuietHours.End = tt.quiet }))
		mia, noa := studio.AddReachable("Mia"), studio.AddReachable("Noa")
		class := studio.SessionAt(tt.starts, func(in *session.Input) { in.Capacity = new(2) })
		studio.MustPlace(mia, class)
		studio.MustPlace(studio.AddMember("Pia"), class)
		studio.MustPlace(noa, class)
		only := func(at time.Time) (sent []string) {
			for _, m := range studio.RunAt(at) {
				if m == mail[0] || m == push[0] {
					sent = append(sent, m)
				}
			}
			return sent
		}
		test.SliceEmpty(studio.T, only(tt.starts.Add(-time.Minute)))
		sweep := func(at time.Time) {
			studio.Clock.Set(at)
			expect.OK(studio.T)(studio.App.Housekeeping.SweepTenant(studio.T.Context(), studio.Tenant))
		}
		ended := tt.starts.Add(tt.late)
		sweep(ended)
		test.Eq(studio.T, tt.now, only(ended))
		sweep(ended.Add(time.Minute))
		test.SliceEmpty(studio.T, only(ended.Add(time.Minute)), test.Sprint("again"))
		test.Eq(studio.T, tt.at8, only(testkit.Noon.Add(67*time.Hour)))
	})
}
