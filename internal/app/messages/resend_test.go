package messages_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// What the provider has told that it has is not sent again, whatever the answer to the sending said, and whichever of
// the two comes first.
func TestResend_NotIfTheProviderHasIt(t *testing.T) {
	t.Parallel()
	busy, failed, lost := twiliotest.Refuse(503, 20503), twiliotest.Refuse(500, 20500), twiliotest.Reaction{Drop: true}
	busy.Taken, failed.Taken = true, true
	for name, c := range map[string]struct {
		answer twiliotest.Reaction
		before []string // statuses that Twilio calls with before it answers
		after  []string // and once that is written down
		sent   int
		log    []string
	}{
		"told before it is busy": {
			busy, []string{"queued", "sent", "delivered"}, nil, 1, []string{"SMS DELIVERED"},
		},
		"told after it was busy":              {busy, nil, []string{"sent", "delivered"}, 1, []string{"SMS DELIVERED"}},
		"told before that it has it, no more": {busy, []string{"queued"}, nil, 1, []string{"SMS QUEUED"}},
		"told after that it has it, no more":  {busy, nil, []string{"sent"}, 1, []string{"SMS SENT"}},
		"told half before, half after": {
			busy, []string{"sent"}, []string{"delivered", "sent"}, 1, []string{"SMS DELIVERED"},
		},
		"told before it fails":      {failed, []string{"delivered"}, nil, 1, []string{"SMS DELIVERED"}},
		"told before it hangs up":   {lost, []string{"sent"}, nil, 1, []string{"SMS SENT"}},
		"told after it has hung up": {lost, nil, []string{"queued"}, 1, []string{"SMS QUEUED"}},
		// Then the outcome is unknown.
		"busy, and never told": {busy, nil, nil, 2, []string{"SMS FAILED PROVIDER_UNAVAILABLE", "SMS QUEUED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := messagetest.WithServers(t)
			tell := func(m twiliotest.Message, statuses []string) {
				for _, status := range statuses {
					answer := p.Call(p.Twilio.Update(p.T.Context(), m, status, 0))
					test.EqOp(t, http.StatusNoContent, answer.Code, test.Sprintf("%s: %d %s", status, answer.Code, answer.Body))
				}
			}
			asked := 0
			p.Twilio.React(func(twiliotest.Message) twiliotest.Reaction {
				if asked++; asked > 1 {
					return twiliotest.Reaction{}
				}
				reaction := c.answer
				reaction.Before = func(m twiliotest.Message) { tell(m, c.before) }
				return reaction
			})
			p.MustPlace(p.AddTextOnly("Mia"), p.SessionAt(testkit.Noon.Add(48*time.Hour)))
			p.Deliver()
			tell(p.Twilio.Messages()[0], c.after)
			for range 20 {
				p.Later(time.Minute)
			}
			test.EqOp(t, c.sent, len(p.Twilio.Messages()), test.Sprintf("sent times, want %d", c.sent))
			p.WantLog("the log", confirmed, c.log...)
			// It has arrived once, and so it counts.
			test.EqOp(t, 1, p.Count(`select count(*) from deliveries where channel = 'SMS' and counted and retry_at is null`),
				test.Sprint("count"))
		})
	}
}

// Nor does it go by another channel, whether the answer comes before the report or after.
func TestResend_NotByAnotherChannelIfTheProviderHasIt(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	for _, status := range []delivery.Status{delivery.Queued, delivery.Sent, delivery.Delivered, delivery.Read} {
		for _, kind := range []delivery.FailureKind{
			delivery.Transient, delivery.Permanent, delivery.Misconfigured, delivery.Unknown,
		} {
			for _, first := range []string{"report", "answer"} {
				studio.Promote()
				message := one(studio, taken(studio, push))
				answer := &delivery.Error{Kind: kind}
				if first == "report" {
					report(studio, message, status)
					settle(studio, answer, message)
				} else {
					settle(studio, answer, message)
					report(studio, message, status)
				}
				studio.Clock.Advance(2 * lost)
				again := expect.Value(studio.App.Messages.TakeNotices(studio.T.Context(), studio.Tenant))(studio.T)
				for _, o := range again.Out {
					t.Errorf("%s first, %s and %s: sent again by %s", first, status, kind, o.Message.Channel)
				}
				test.EqOp(t, 1, studio.Count(
					`select count(*) from deliveries where id = $1 and status = $2`, message.Message.ID, string(status),
				), test.Sprintf("%s first, %s and %s: the log says otherwise", first, status, kind))
			}
		}
	}
}

// Two attempts may both be in progress, because it was unknown whether the first arrived. After the second was sent,
// the provider says that the first did not arrive: the second one decides.
func TestResend_AfterALostAttempt(t *testing.T) {
	t.Parallel()
	type row struct {
		second delivery.Status  // what is told of the second
		by     delivery.Channel // by which it goes on; empty: not at all
	}
	messagetest.Each(t, map[string]row{
		"the second is on its way": {delivery.Sent, ""}, "the second has arrived": {delivery.Delivered, ""},
		"the second is lost, too": {delivery.Undelivered, sms},
	}, func(studio *messagetest.Studio, c row) {
		studio.Promote()
		first := one(studio, taken(studio, push))
		settle(studio, errors.New("the connection was lost"), first)
		studio.Clock.Advance(time.Minute)
		second := one(studio, taken(studio, push))
		settle(studio, nil, second)
		studio.Clock.Advance(time.Second)
		report(studio, second, c.second)
		report(studio, first, delivery.Undelivered)
		studio.Clock.Advance(time.Second)
		out := taken(studio, sms)
		if c.by == "" {
			test.EqOp(studio.T, 0, len(out), test.Sprintf("%+v", out))
			return
		}
		settle(studio, nil, one(studio, out))
	})
}

// A carrier that has no room for the moment is asked again, as often as a provider would be. Where it will not have
// any, the next channel is.
func TestResend_AfterTheCarrierWasBusy(t *testing.T) {
	t.Parallel()
	const queueFull, filtered = 30001, 30007
	for name, c := range map[string]struct {
		codes []int // of what is reported of each message, in order; 0: delivered
		log   []string
	}{
		"once": {[]int{queueFull, 0}, []string{"SMS FAILED PROVIDER_UNAVAILABLE", "SMS DELIVERED"}},
		"for long": {[]int{queueFull, queueFull, queueFull, queueFull, queueFull, queueFull}, []string{
			"SMS FAILED PROVIDER_UNAVAILABLE", "SMS FAILED PROVIDER_UNAVAILABLE", "SMS FAILED PROVIDER_UNAVAILABLE",
			"SMS FAILED PROVIDER_UNAVAILABLE", "SMS FAILED PROVIDER_UNAVAILABLE", "SMS FAILED PROVIDER_UNAVAILABLE",
			" DROPPED PROVIDER_REFUSED",
		}},
		"for good": {[]int{filtered}, []string{"SMS FAILED PROVIDER_REFUSED", " DROPPED PROVIDER_REFUSED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := messagetest.WithServers(t)
			p.MustPlace(p.AddTextOnly("Mia"), p.SessionAt(testkit.Noon.Add(48*time.Hour)))
			p.Deliver()
			for told := 0; ; told++ {
				sent := p.Twilio.Messages()
				if told == len(sent) {
					break
				}
				must.NotEqOp(t, len(c.codes), told, must.Sprintf("sent %d times", len(sent)))
				status := "failed"
				if c.codes[told] == 0 {
					status = "delivered"
				}
				for range 2 { // Twilio repeats itself
					answer := p.Call(
						p.Twilio.Update(p.T.Context(), sent[told], status, c.codes[told]),
					)
					must.EqOp(t, http.StatusNoContent, answer.Code, must.Sprintf("%d %s", answer.Code, answer.Body))
				}
				for range 12 { // the longest wait is ten minutes
					p.Later(time.Minute)
				}
			}
			p.WantLog("the log", confirmed, c.log...)
		})
	}
}
