package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A seat is freed, declined by one member, and accepted by the next through a claim link. The explanations say why.
func TestFreedSeat_GoesToNextEntryAndIsExplained(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	w := newWorld(t, l)
	before := l.samples(t)
	service := w.newOfferService()
	in := w.newSession(func(in *session.Input) { in.Capacity, in.Service = new(1), service })
	book := func(caller tenant.Caller) *v1.BookResponse {
		return call[*v1.BookResponse](
			t, l, w.token(caller.Subject), "BookingService/Book", &v1.BookRequest{SessionId: text(in)},
		)
	}
	holder := w.newMember()
	held := book(holder).GetBooking()
	waiting := []tenant.Caller{w.newMember(), w.newMember(), w.newMember()}
	entries := make([]string, len(waiting))
	for i, caller := range waiting {
		entry := book(caller).GetEntry()
		entries[i] = entry.GetId()
		must.EqOp(t, v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_WAITING, entry.GetStatus(),
			must.Sprintf("number %d got %v", i+1, entry))
		must.EqOp(t, int32(i+1), entry.GetPosition(), must.Sprintf("number %d got %v", i+1, entry))
	}
	call[*v1.CancelBookingResponse](
		t, l, w.token(holder.Subject), "BookingService/CancelBooking", &v1.CancelBookingRequest{BookingId: held.GetId()},
	)

	offers := func() []*v1.WaitlistOffer {
		return call[*v1.ListWaitlistOffersResponse](
			t,
			l,
			w.token(tenant.RoleOwner),
			"WaitlistService/ListWaitlistOffers",
			&v1.ListWaitlistOffersRequest{Filter: &v1.WaitlistOfferFilter{SessionId: text(in)}},
		).GetOffers()
	}
	first := offers()
	must.SliceLen(t, 1, first, must.Sprintf("the first offer is %v", first))
	must.EqOp(t, entries[0], first[0].GetEntryId(), must.Sprintf("the first offer is %v", first))
	must.EqOp(
		t,
		v1.WaitlistOfferStatus_WAITLIST_OFFER_STATUS_LIVE,
		first[0].GetStatus(),
		must.Sprintf("the first offer is %v", first),
	)
	call[*v1.DeclineWaitlistOfferResponse](
		t,
		l,
		w.token(waiting[0].Subject),
		"WaitlistService/DeclineWaitlistOffer",
		&v1.DeclineWaitlistOfferRequest{OfferId: first[0].GetId()},
	)
	next := offers()
	must.SliceLen(t, 2, next, must.Sprintf("then the offers are %v", next))
	must.EqOp(t, entries[1], next[0].GetEntryId(), must.Sprintf("then the offers are %v", next))
	must.EqOp(t, 2, next[0].GetAttempt(), must.Sprintf("then the offers are %v", next))

	id := expect.Value(tenant.Parse[tenant.OfferID](next[0].GetId()))(w.t)
	link := "http://" + l.Address + waitlists.ClaimPath + strings.TrimPrefix(
		w.app.Waitlists.ClaimURL(w.ID, id), "https://berth.test"+waitlists.ClaimPath,
	)
	must.StrContains(t, l.browse(t, http.MethodGet, link, nil), `data-state="live"`)
	for range 2 {
		must.StrContains(t, l.browse(
			t, http.MethodPost, link, url.Values{"answer": {"accept"}},
		), `data-state="accepted"`)
	}
	mine := call[*v1.ListBookingsResponse](
		t, l, w.token(waiting[1].Subject), "BookingService/ListBookings", &v1.ListBookingsRequest{},
	).GetBookings()
	must.SliceLen(t, 1, mine, must.Sprintf("the second has %v", mine))
	test.EqOp(t, text(in), mine[0].GetSession().GetId(), test.Sprintf("the second has %v", mine))
	test.EqOp(t, v1.BookingStatus_BOOKING_STATUS_CONFIRMED, mine[0].GetStatus(),
		test.Sprintf("the second has %v", mine))
	for i, want := range []struct {
		status v1.WaitlistEntryStatus
		says   string
	}{
		{v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_WAITING, "the entry had already been offered these seats"},
		{v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_BOOKED, "It was offered 1 seat, until "},
		{
			v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_WAITING,
			"It was not chosen, because all open seats went to earlier entries.",
		},
	} {
		story := call[*v1.ExplainWaitlistEntryResponse](
			t,
			l,
			w.token(waiting[i].Subject),
			"WaitlistService/ExplainWaitlistEntry",
			&v1.ExplainWaitlistEntryRequest{EntryId: entries[i]},
		)
		sentences := strings.Join(story.GetSentences(), "\n")
		test.EqOp(t, want.status, story.GetEntry().GetStatus(),
			test.Sprintf("entry %d is %v:\n%s", i+1, story.GetEntry().GetStatus(), sentences))
		test.StrContains(t, sentences, want.says,
			test.Sprintf("entry %d is %v:\n%s", i+1, story.GetEntry().GetStatus(), sentences))
	}

	grown := make(map[string]float64)
	for name, value := range l.samples(t) {
		if strings.HasPrefix(name, "waitlist_") && value != before[name] {
			grown[name] = value - before[name]
		}
	}
	for _, name := range []string{"waitlist_offer_response_time_sum", "waitlist_conversion_rate"} {
		test.True(t, grown[name] > 0, test.Sprintf("%s grew by %v", name, grown[name]))
		delete(grown, name)
	}
	want := map[string]float64{
		`waitlist_entries_total{status="WAITING"}`: 3, `waitlist_entries_total{status="BOOKED"}`: 1,
		`waitlist_offers_total{outcome="CREATED"}`: 2, `waitlist_offers_total{outcome="DECLINED"}`: 1,
		`waitlist_offers_total{outcome="ACCEPTED"}`: 1,
		"waitlist_offer_response_time_count":        2, "waitlist_cascade_depth_count": 1, "waitlist_cascade_depth_sum": 2,
	}
	test.Eq(t, want, grown, test.Sprint("what the node counted"))
	l.verify(t)
}

// An explanation for a member has no names, ids, scores or ranks of others. Staff see everything.
func TestExplainEntry_NamesNoOtherMember(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	w := newWorld(t, l)
	service := w.newOfferService()
	in := w.newSession(func(in *session.Input) { in.Capacity, in.Service = new(1), service })
	book := func(caller tenant.Caller) *v1.BookResponse {
		return call[*v1.BookResponse](
			t, l, w.token(caller.Subject), "BookingService/Book", &v1.BookRequest{SessionId: text(in)},
		)
	}
	owner := w.token(tenant.RoleOwner)
	call[*v1.UpdateWaitlistRulesResponse](
		t,
		l,
		owner,
		"WaitlistService/UpdateWaitlistRules",
		&v1.UpdateWaitlistRulesRequest{
			ServiceId: text(service), Rules: &v1.WaitlistRules{Order: v1.WaitlistOrder_WAITLIST_ORDER_PRIORITY.Enum()},
			UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"order"}},
		},
	)
	holder := w.newMember()
	held := book(holder).GetBooking().GetId()
	mine := w.newMember()
	me := book(mine).GetEntry().GetId()
	others := []tenant.Caller{w.newMember(), w.newMember()}
	secrets := map[string]string{
		"the score of another": "7391", "the holder's booking": held, "the holder": text(holder.Member),
	}
	for i, caller := range others {
		e := book(caller).GetEntry().GetId()
		secrets[fmt.Sprint("entry ", i)], secrets[fmt.Sprint("member ", i)] = e, text(caller.Member)
		call[*v1.SetWaitlistPriorityResponse](
			t,
			l,
			owner,
			"WaitlistService/SetWaitlistPriority",
			&v1.SetWaitlistPriorityRequest{EntryId: e, Score: new(int32(7391))},
		)
	}
	call[*v1.CancelBookingResponse](
		t, l, w.token(holder.Subject), "BookingService/CancelBooking", &v1.CancelBookingRequest{BookingId: held},
	)
	offers := call[*v1.ListWaitlistOffersResponse](
		t,
		l,
		owner,
		"WaitlistService/ListWaitlistOffers",
		&v1.ListWaitlistOffersRequest{Filter: &v1.WaitlistOfferFilter{SessionId: text(in)}},
	).GetOffers()
	must.SliceLen(t, 1, offers, must.Sprintf("offers: %v", offers))
	must.EqOp(t, secrets["entry 0"], offers[0].GetEntryId(), must.Sprintf("offers: %v", offers))
	secrets["an offer"] = offers[0].GetId()
	call[*v1.DeclineWaitlistOfferResponse](t, l, w.token(
		others[0].Subject,
	), "WaitlistService/DeclineWaitlistOffer", &v1.DeclineWaitlistOfferRequest{
		OfferId: offers[0].GetId(), Reason: "Keep this private.",
	})
	secrets["why another declined"] = "Keep this private."
	whole := call[*v1.ExplainSessionWaitlistResponse](
		t, l, owner, "WaitlistService/ExplainSessionWaitlist", &v1.ExplainSessionWaitlistRequest{SessionId: text(in)},
	)
	must.SliceLen(t, 2, whole.GetDecisions(), must.Sprintf("explanation for staff: %v", whole))
	must.SliceLen(t, 3, whole.GetEntries(), must.Sprintf("explanation for staff: %v", whole))
	for _, e := range whole.GetEntries() {
		if e.GetId() != me {
			secrets["the name of "+e.GetId()] = e.GetMemberName()
		}
	}

	explain := procedureNamed(t, "WaitlistService/ExplainWaitlistEntry")
	response := l.try(t.Context(), w.token(mine.Subject), explain, &v1.ExplainWaitlistEntryRequest{EntryId: me})
	must.EqOp(t, codes.OK, response.Code)
	must.StrContains(t, response.Response, "It was not chosen")
	staff := l.try(
		t.Context(), owner, procedureNamed(t, "WaitlistService/ExplainSessionWaitlist"),
		&v1.ExplainSessionWaitlistRequest{SessionId: text(in)},
	)
	for what, secret := range secrets {
		test.StrNotContains(t, response.Response, secret, test.Sprintf("the member sees %s", what))
		test.False(
			t, !strings.Contains(what, "holder") && !strings.Contains(staff.Response, secret),
			test.Sprintf("staff do not see %s, %q", what, secret),
		)
	}
	l.try(t.Context(), w.token(mine.Subject), explain, &v1.ExplainWaitlistEntryRequest{EntryId: secrets["entry 0"]}).
		has(t, "WAITLIST_ENTRY_NOT_FOUND", "the entry of another")
	l.try(
		t.Context(), w.token(mine.Subject), procedureNamed(t, "WaitlistService/ExplainSessionWaitlist"),
		&v1.ExplainSessionWaitlistRequest{SessionId: text(in)},
	).has(t, "PermissionDenied", "the session")
}

// connectOutcome is outcomeOf for errors of the Connect client. Without one it has no reason.
func connectOutcome(err error) outcome {
	wire, _ := errors.AsType[*connect.Error](err)
	if wire == nil {
		return outcome{}
	}
	o := outcome{Code: codes.Code(wire.Code()), Message: wire.Message()}
	for _, detail := range wire.Details() {
		value, _ := detail.Value()
		if info, ok := value.(*errdetails.ErrorInfo); ok {
			o.Reason, o.Metadata = info.GetReason(), info.GetMetadata()
		}
	}
	return o
}

// browse loads a page like a browser without scripts, and follows redirects.
func (l *liveNode) browse(t *testing.T, method, address string, form url.Values) string {
	t.Helper()
	header := make(http.Header)
	if form != nil {
		header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {"null"}}
	}
	status, body := sendHTTP(t, method, address, header, form.Encode())
	must.EqOp(t, http.StatusOK, status, must.Sprint(body))
	return body
}

// samples reads the node's metrics, without the buckets of histograms.
func (l *liveNode) samples(t *testing.T) map[string]float64 {
	t.Helper()
	families := expect.Value(l.Metrics.Gather())(t)
	all := make(map[string]float64)
	for _, family := range families {
		name := family.GetName()
		for _, m := range family.GetMetric() {
			var labels []string
			for _, label := range m.GetLabel() {
				labels = append(labels, label.GetName()+`="`+label.GetValue()+`"`)
			}
			slices.Sort(labels)
			key := name
			if len(labels) > 0 {
				key += "{" + strings.Join(labels, ",") + "}"
			}
			if h := m.GetHistogram(); h != nil {
				all[name+"_sum"], all[name+"_count"] = h.GetSampleSum(), float64(h.GetSampleCount())
				continue
			}
			all[key] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return all
}
