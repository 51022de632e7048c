package messages_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

func TestFallback_UsesTheNextChannel(t *testing.T) {
	t.Parallel()
	messagetest.Subtests(t, map[string]func(*messagetest.Studio){
		"a number that said stop is not written to again": func(studio *messagetest.Studio) {
			noa := studio.Promote()
			studio.RemoveDevices(noa)
			studio.Provider.Fail(sms, &delivery.Error{Kind: delivery.OptedOut, Code: "21610"})
			studio.Run()
			studio.RunAt(testkit.Noon.Add(time.Second))
			studio.WantLog("the log", notify.Promoted, "SMS FAILED OPTED_OUT", "EMAIL SENT", " DROPPED OPTED_OUT")
			read := func() messages.NotificationPreferences {
				return expect.Value(studio.App.Messages.GetNotificationPreferences(
					studio.T.Context(), noa, tenant.MemberID{},
				))(studio.T)
			}
			p := read()
			must.SliceLen(studio.T, 1, p.Stops)
			test.EqOp(studio.T, notify.OptedOut, p.Stops[0].Reason)
			expect.OK(studio.T)(studio.App.Messages.AnswerSMS(studio.T.Context(), studio.Tenant, studio.PhoneOf(noa), "START"))
			test.SliceEmpty(studio.T, read().Stops)
		},
		"a busy provider is tried again, and then left": func(studio *messagetest.Studio) {
			studio.Promote()
			studio.Provider.Fail(push, &delivery.Error{Kind: delivery.Transient, Code: "UNAVAILABLE"})
			for range 80 {
				studio.Run()
				studio.Clock.Set(studio.Clock.Now().Add(30 * time.Second))
			}
			test.EqOp(studio.T, "1 true, 2 true, 3 true, 4 true, 5 true, 6 false", studio.Text(`
select string_agg(attempt || ' ' || coalesce(retry_at > created_at, false), ', ' order by attempt) from deliveries
where status = 'FAILED'`))
			lines := studio.Log(notify.Promoted)
			want := []string{"EMAIL SENT", "PUSH FAILED PROVIDER_UNAVAILABLE", "SMS SENT"}
			counts := map[string]int{}
			for _, l := range lines {
				counts[l]++
			}
			test.EqOp(studio.T, 1, counts[want[0]])
			test.EqOp(studio.T, 6, counts[want[1]])
			test.EqOp(studio.T, 1, counts[want[2]])
			test.SliceLen(studio.T, 8, lines)
		},
		"without an answer the outcome is unknown: it is sent again, and the log says so": func(studio *messagetest.Studio) {
			studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(testkit.Noon.Add(48*time.Hour)))
			studio.Provider.Fail(email, &delivery.Error{Kind: delivery.Unknown})
			studio.Run()
			studio.RunAt(testkit.Noon.Add(59 * time.Second))
			studio.Provider.Fail(email, nil)
			studio.RunAt(testkit.Noon.Add(time.Minute))
			studio.WantLog("the log", notify.BookingConfirmed, "PUSH SENT", "EMAIL POSSIBLY_SENT", "EMAIL SENT again")
		},
		"after three attempts with an unknown outcome it is given up": func(studio *messagetest.Studio) {
			studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(testkit.Noon.Add(48*time.Hour)))
			studio.Provider.Fail(email, &delivery.Error{Kind: delivery.Unknown})
			for range 5 {
				studio.Run()
				studio.Clock.Advance(time.Minute)
			}
			studio.WantLog(
				"the log", confirmed, "PUSH SENT", "EMAIL POSSIBLY_SENT", "EMAIL POSSIBLY_SENT again", "EMAIL POSSIBLY_SENT again",
				" DROPPED POSSIBLY_SENT",
			)
		},
		"the only channel that reaches a member waits for its account": func(studio *messagetest.Studio) {
			studio.EditMember(studio.Promote(), func(m *memberValue) { m.Phone = "" })
			studio.Provider.Fail(push, &delivery.Error{Kind: delivery.Misconfigured})
			studio.Run()
			studio.Provider.Fail(push, nil)
			studio.RunAt(testkit.Noon.Add(10 * time.Minute))
			studio.WantLog("the log", notify.Promoted, "PUSH FAILED MISCONFIGURED", "EMAIL SENT", "PUSH SENT")
		},
		"a device whose token cannot be read gets nothing": func(studio *messagetest.Studio) {
			mia := studio.AddReachable("Mia")
			second(studio, mia)
			studio.Exec(`update devices set token = null, sealed = 'x' where id = (select id from devices order by id limit 1)`)
			studio.MustPlace(mia, studio.SessionAt(testkit.Noon.Add(48*time.Hour)))
			one(studio, taken(studio, push))
		},
		"what the provider has is not sent again, though the notice is open": func(studio *messagetest.Studio) {
			studio.MustPlace(studio.AddReachable("Mia"), studio.SessionAt(testkit.Noon.Add(48*time.Hour)))
			sent := one(studio, taken(studio, email))
			// By SQL, because a report also closes the notice.
			studio.Exec(`update deliveries set status = 'QUEUED' where id = $1`, sent.Message.ID)
			studio.Clock.Advance(lost)
			test.SliceEmpty(studio.T, taken(studio, email))
			studio.WantLog("the log", confirmed, "PUSH SENT", "EMAIL QUEUED")
			test.EqOp(studio.T, 1, studio.Count(`select count(*) from notices where id = $1 and done_at is not null`,
				sent.Notice.ID))
		},
	})
}

// A worker that dies between the lines: before it sent, after it sent, before it wrote down what became of it. Nothing
// is lost, and what may have been sent twice is told.
func TestFallback_AfterAWorkerDies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 7))
		studio := messagetest.New(t)
		class := studio.SessionAt(testkit.Noon.Add(200*time.Hour), func(in *session.Input) { in.Capacity = new(12) })
		for i := range 12 {
			studio.MustPlace(studio.AddReachable("Mia"+string(rune('a'+i))), class)
		}
		studio.Plan()
		sent := make(map[tenant.NoticeID]int)
		for range 40 {
			taken := expect.Value(studio.App.Messages.TakeNotices(studio.T.Context(), studio.Tenant))(studio.T)
			var attempts []messages.AttemptResult
			dies := random.IntN(3) == 0
			reach := random.IntN(len(taken.Out) + 1)
			for i, o := range taken.Out {
				if dies && i >= reach {
					break
				}
				sent[o.Notice.ID]++
				attempts = append(
					attempts,
					messages.AttemptResult{
						Outgoing: o, Receipt: delivery.Receipt{ProviderID: o.Message.ID.String(), Status: delivery.Sent},
					},
				)
			}
			if !dies {
				studio.NoError(studio.App.Messages.SettleDeliveries(studio.T.Context(), studio.Tenant, attempts))
			}
			studio.Clock.Set(studio.Clock.Now().Add(3 * time.Minute))
		}
		must.EqOp(t, 0, studio.Count(
			`select count(*) from notices where done_at is null and due_at <= $1`, studio.Clock.Now(),
		), must.Sprintf("seed %d: notices are left", seed))
		test.MapLen(t, 24, sent, test.Sprintf("seed %d: a mail and a push for each", seed))
		for id, times := range sent {
			told := studio.Count(`select count(*) from deliveries where notice_id = $1 and possible_duplicate`, id)
			test.False(
				t, times > 1 && told < times-1, test.Sprintf("seed %d: sent %d times, %d of them told", seed, times, told),
			)
		}
	}
}
