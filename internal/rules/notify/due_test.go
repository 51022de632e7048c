package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// noUsage returns the usage of a tenant without limits that has sent nothing.
func noUsage() *Usage { return NewUsage(make(map[tenant.UUID]map[delivery.Channel][]time.Time), nil) }

func TestNext_EndsOrResumesAnAttemptWithoutResult(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	due := Due{Notice: s.N, Sending: true, To: s.R, About: s.M}
	for name, tt := range map[string]struct {
		differ set
		want   Action
		named  bool // the recipient is known
	}{
		"the provider has it": {set{"LastStatus": delivery.Delivered}, Action{Kind: Close}, false},
		"it is not known":     {nil, Action{Kind: Send, Channel: push}, true},
		"too often":           {set{"Notice.UnknownResults": 2}, Action{Kind: Drop, Reason: PossiblySent}, false},
		"too often, but known": {
			set{"Notice.UnknownResults": 2, "LastStatus": delivery.Sent}, Action{Kind: Close}, false,
		},
	} {
		step := noUsage().Next(vary.From(due, tt.differ), s.S, monday)
		test.Eq(t, tt.want, step.Action, test.Sprint(name))
		test.EqOp(t, tt.named, step.To.Known, test.Sprint(name))
	}
	resumed := noUsage().Next(due, s.S, monday)
	test.EqOp(t, 1, resumed.Notice.UnknownResults)
	due.Sending = false
	first := noUsage().Next(due, s.S, monday)
	test.EqOp(t, 0, first.Notice.UnknownResults)
}

func TestNext_TellsWhetherAnotherChannelIsLeft(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	due := Due{Notice: s.N, To: s.R, About: s.M}
	test.False(t, noUsage().Next(due, s.S, monday).Notice.LastChannel)
	due.To.Devices = nil
	step := noUsage().Next(due, s.S, monday)
	test.EqOp(t, email, step.Channel)
	test.True(t, step.Notice.LastChannel)
}

// Later notices of a batch count what the earlier ones sent and deferred.
func TestNext_CountsWhatABatchSends(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.R.Devices = nil
	s.S.PerDay = map[delivery.Channel]int{sms: 1, push: 1, email: 1}
	due := Due{Notice: s.N, To: s.R, About: s.M}
	usage := noUsage()
	first := usage.Next(due, s.S, monday)
	must.EqOp(t, Send, first.Kind)
	test.EqOp(t, SendingKey{}, usage.Count(first.Notice, first.To, first.Channel, monday))
	test.EqOp(t, FrequencyCap, usage.Next(due, s.S, monday).Reason)
	code := s.N
	code.Topic = ContactCode
	usage.Count(code, s.R, sms, monday)
	test.MapLen(t, 1, usage.recipient(s.N, s.R).Sent, test.Sprint("a code does not count"))
}

func TestNext_DefersToTheNextRoomInAQuota(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.R.Devices = nil
	s.N.ExpiresAt = monday.Add(72 * time.Hour)
	s.M.StartsAt, s.N.StartsAt = s.N.ExpiresAt, s.N.ExpiresAt
	due := Due{Notice: s.N, To: s.R, About: s.M}
	sending := NewSending(studioID, SendingLimits{email: {Total: 1}}, nil, nil, nil, monday)
	usage := NewUsage(make(map[tenant.UUID]map[delivery.Channel][]time.Time), sending)
	first := usage.Next(due, s.S, monday)
	must.EqOp(t, Send, first.Kind)
	test.EqOp(t, email, usage.Count(first.Notice, first.To, first.Channel, monday).Channel)
	waits := usage.Next(due, s.S, monday)
	test.EqOp(t, SendingQuotaReason, waits.Reason)
	changes := sending.Changes()
	must.Len(t, 2, changes)
	test.EqOp(t, 1, changes[0].Sent)
	test.EqOp(t, 1, changes[1].Waiting)
	test.EqOp(t, waits.Until.Truncate(time.Hour), changes[1].Hour)
}

func TestSendingCountry_IsThatOfANumber(t *testing.T) {
	t.Parallel()
	test.EqOp(t, "PT", SendingCountry(sms, "+351912345678"))
	test.EqOp(t, UnknownCountry, SendingCountry(sms, "+999"))
	test.EqOp(t, "", SendingCountry(email, "+351912345678"))
}

func TestStep_HoldsOfferInQuietHours(t *testing.T) {
	t.Parallel()
	quiet := Action{Kind: Defer, Reason: QuietHoursReason}
	test.True(t, Step{Action: quiet, Notice: Notice{Topic: Offered}}.HoldsOffer())
	test.False(t, Step{Action: quiet, Notice: Notice{Topic: OfferExpiring}}.HoldsOffer())
	test.False(t, Step{Action: Action{Reason: FrequencyCap}, Notice: Notice{Topic: Offered}}.HoldsOffer())
}
