package worker_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/twilio/twiliotest"
)

// What the provider has told that it has is not sent again, whatever the answer to the sending said, and whichever of the two
// comes first.
func TestWhatTheProviderHasIsNotSentAgain(t *testing.T) {
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
		"told before it is busy":              {busy, []string{"queued", "sent", "delivered"}, nil, 1, []string{"SMS DELIVERED"}},
		"told after it was busy":              {busy, nil, []string{"sent", "delivered"}, 1, []string{"SMS DELIVERED"}},
		"told before that it has it, no more": {busy, []string{"queued"}, nil, 1, []string{"SMS QUEUED"}},
		"told after that it has it, no more":  {busy, nil, []string{"sent"}, 1, []string{"SMS SENT"}},
		"told half before, half after":        {busy, []string{"sent"}, []string{"delivered", "sent"}, 1, []string{"SMS DELIVERED"}},
		"told before it fails":                {failed, []string{"delivered"}, nil, 1, []string{"SMS DELIVERED"}},
		"told before it hangs up":             {lost, []string{"sent"}, nil, 1, []string{"SMS SENT"}},
		"told after it has hung up":           {lost, nil, []string{"queued"}, 1, []string{"SMS QUEUED"}},
		// Nobody can know then.
		"busy, and never told": {busy, nil, nil, 2, []string{"SMS FAILED PROVIDER_UNAVAILABLE", "SMS QUEUED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withProviders(t)
			tell := func(m twiliotest.Message, statuses []string) {
				for _, status := range statuses {
					if answer := p.call(p.twilio.Update(p.ctx(), m, status, 0)); answer.Code != http.StatusNoContent {
						t.Errorf("%s: %d %s", status, answer.Code, answer.Body)
					}
				}
			}
			asked := 0
			p.twilio.React(func(twiliotest.Message) twiliotest.Reaction {
				if asked++; asked > 1 {
					return twiliotest.Reaction{}
				}
				reaction := c.answer
				reaction.Before = func(m twiliotest.Message) { tell(m, c.before) }
				return reaction
			})
			p.book(p.textOnly(), p.session(noon.Add(48*time.Hour)))
			p.deliver()
			tell(p.twilio.Messages()[0], c.after)
			for range 20 {
				p.later(time.Minute)
			}
			if n := len(p.twilio.Messages()); n != c.sent {
				t.Errorf("sent %d times, want %d", n, c.sent)
			}
			p.wantLines("the log", confirmed, c.log...)
			// It has arrived once, and so it counts.
			if n := p.count(`select count(*) from deliveries where channel = 'SMS' and counted and retry_at is null`); n != 1 {
				t.Errorf("%d count", n)
			}
		})
	}
}

// Nor does it go by another channel, whether the answer comes before the report or after.
func TestWhatTheProviderHasGoesByNoOtherChannel(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, status := range []notify.DeliveryStatus{notify.Queued, notify.Sent, notify.Delivered, notify.Read} {
		for _, kind := range []notify.FailureKind{notify.Transient, notify.Permanent, notify.Misconfigured, notify.Unknown} {
			for _, first := range []string{"report", "answer"} {
				h.promoted()
				message := h.one(h.taken(push))
				answer := &notify.SendError{Kind: kind}
				if first == "report" {
					h.report(message, status)
					h.settle(answer, message)
				} else {
					h.settle(answer, message)
					h.report(message, status)
				}
				h.later(2 * lost)
				again, err := h.app.Messages.TakeNotices(h.ctx(), h.Tenant)
				h.ok(err)
				for _, o := range again.Out {
					t.Errorf("%s first, %s and %s: sent again by %s", first, status, kind, o.Message.Channel)
				}
				if n := h.count(`select count(*) from deliveries where id = $1 and status = $2`, message.Message.ID, string(status)); n != 1 {
					t.Errorf("%s first, %s and %s: the log says otherwise", first, status, kind)
				}
			}
		}
	}
}

// Two attempts may both be on their way: nobody knew whether the first had arrived. It did not, says the provider, after the second was sent:
// that one decides.
func TestAnEarlierAttemptThatIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second notify.DeliveryStatus // what is told of the second
		by     notify.Channel        // by which it goes on; empty: not at all
	}{"the second is on its way": {notify.Sent, ""}, "the second has arrived": {notify.Delivered, ""}, "the second is lost, too": {notify.Undelivered, sms}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.promoted()
			first := h.one(h.taken(push))
			h.settle(&notify.SendError{Kind: notify.Unknown}, first)
			h.later(time.Minute)
			second := h.one(h.taken(push))
			h.settle(nil, second)
			h.later(time.Second)
			h.report(second, c.second)
			h.report(first, notify.Undelivered)
			h.later(time.Second)
			out := h.taken(sms)
			if c.by == "" {
				if len(out) != 0 {
					t.Errorf("%+v", out)
				}
				return
			}
			h.settle(nil, h.one(out))
		})
	}
}

// A carrier that has no room for the moment is asked again, as often as a provider would be. Where it will not have any, the next channel is.
func TestACarrierThatIsBusy(t *testing.T) {
	t.Parallel()
	const queueFull, filtered = 30001, 30007
	for name, c := range map[string]struct {
		codes []int // of what is reported of each message, in order; 0: delivered
		log   []string
	}{
		"once": {[]int{queueFull, 0}, []string{"SMS FAILED PROVIDER_UNAVAILABLE", "SMS DELIVERED"}},
		"for long": {[]int{queueFull, queueFull, queueFull, queueFull, queueFull, queueFull}, []string{
			"SMS FAILED PROVIDER_UNAVAILABLE", "SMS FAILED PROVIDER_UNAVAILABLE", "SMS FAILED PROVIDER_UNAVAILABLE",
			"SMS FAILED PROVIDER_UNAVAILABLE", "SMS FAILED PROVIDER_UNAVAILABLE", "SMS FAILED PROVIDER_UNAVAILABLE", " DROPPED PROVIDER_REFUSED",
		}},
		"for good": {[]int{filtered}, []string{"SMS FAILED PROVIDER_REFUSED", " DROPPED PROVIDER_REFUSED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withProviders(t)
			p.book(p.textOnly(), p.session(noon.Add(48*time.Hour)))
			p.deliver()
			for told := 0; ; told++ {
				sent := p.twilio.Messages()
				if told == len(sent) {
					break
				}
				if told == len(c.codes) {
					t.Fatalf("sent %d times", len(sent))
				}
				status := "failed"
				if c.codes[told] == 0 {
					status = "delivered"
				}
				for range 2 { // Twilio repeats itself
					if answer := p.call(p.twilio.Update(p.ctx(), sent[told], status, c.codes[told])); answer.Code != http.StatusNoContent {
						t.Fatalf("%d %s", answer.Code, answer.Body)
					}
				}
				for range 12 { // the longest wait is ten minutes
					p.later(time.Minute)
				}
			}
			p.wantLines("the log", confirmed, c.log...)
		})
	}
}
