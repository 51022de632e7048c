package rpc

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// waitlistTest is a studio with a client of its WaitlistService and a clock that can be set.
type waitlistTest struct {
	*studio
	berthv1connect.WaitlistServiceClient
	at atomic.Int64 // minutes since monday
}

func newWaitlistTest(t *testing.T) *waitlistTest {
	t.Helper()
	s := &waitlistTest{}
	s.studio = newStudioWithClock(t, s.now)
	s.WaitlistServiceClient = berthv1connect.NewWaitlistServiceClient(s.Client, s.URL)
	return s
}

func (s *waitlistTest) now() time.Time { return monday.Add(time.Duration(s.at.Load()) * time.Minute) }

// fullClass creates a class with one seat, which the coach books.
func (s *waitlistTest) fullClass(t *testing.T) (class, booking string) {
	t.Helper()
	in := s.input(monday.Add(48 * time.Hour))
	in.Capacity, in.WaitlistCapacity = proto.Int32(1), proto.Int32(5)
	class = s.create(t, in, true).GetId()
	booked := ask[*v1.BookResponse](t, s, s.Token(t, "coach"), &v1.BookRequest{SessionId: class})
	return class, booked.GetBooking().GetId()
}

func (s *waitlistTest) join(t *testing.T, role string, request *v1.JoinWaitlistRequest) *v1.WaitlistEntry {
	t.Helper()
	response := expect.Value(s.JoinWaitlist(t.Context(), as(s.Token(t, role), request)))(t)
	test.EqOp(t, "WAITLISTED", response.Header().Get("X-Booking-Status"), test.Sprint("X-Booking-Status"))
	return response.Msg.GetEntry()
}

func (s *waitlistTest) myEntries(t *testing.T, role string, closed bool) []*v1.WaitlistEntry {
	t.Helper()
	return expect.Value(
		s.ListMyEntries(t.Context(), as(s.Token(t, role), &v1.ListMyEntriesRequest{IncludeClosed: closed})),
	)(t).Msg.GetEntries()
}

func wantEqual(t *testing.T, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	test.EqOp(t, "", cmp.Diff(want, got, append(options, protocmp.Transform())...), test.Sprint(what))
}

// A seat is freed, declined by the first in order and accepted by the next. The test checks every field of entries,
// offers, decisions, figures and a preview.
func TestWaitlistRPCs_OfferDeclineAndAccept(t *testing.T) {
	t.Parallel()
	s := newWaitlistTest(t)
	owner := s.Token(t, "owner")
	expect.OK(t)(s.DB.Owner.Exec(t.Context(), `update members set tier = 'gold' where subject = 'member'`))
	expect.OK(t)(s.UpdateRules(t.Context(), as(owner, &v1.UpdateRulesRequest{
		ServiceId: s.service,
		Rules: &v1.WaitlistRules{
			Mode: v1.WaitlistMode_WAITLIST_MODE_OFFER.Enum(), OffersInQuietHours: new(true),
			Order:                 v1.WaitlistOrder_WAITLIST_ORDER_PRIORITY.Enum(),
			TierBonuses:           &v1.TierBonuses{Bonuses: []*v1.TierBonus{{Tier: "gold", Points: 20}}},
			EarlyBirdPointsPerDay: new(int32(2)),
		},
		UpdateMask: mask("mode", "offers_in_quiet_hours", "order", "tier_bonuses", "early_bird_points_per_day"),
	})))
	class, held := s.fullClass(t)
	at := func(minute int) *timestamppb.Timestamp {
		return timestamppb.New(monday.Add(time.Duration(minute) * time.Minute))
	}
	starts := timestamppb.New(monday.Add(48 * time.Hour))
	join := &v1.JoinWaitlistRequest{Wish: &v1.JoinWaitlistRequest_SessionId{SessionId: class}}

	// Both joined two days ahead, one of them a minute later, which counts as one whole day.
	first := s.join(t, "admin", join)
	s.at.Store(1)
	second := s.join(t, "member", join)
	waiting := &v1.WaitlistEntry{
		Id: second.GetId(), SessionId: class, MemberId: convert.IDText(s.Members["member"]), MemberName: "Member",
		PartySize: 1,
		Status:    v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_WAITING, Position: 1, CreateTime: at(1),
		SessionStartTime: starts, SessionTitle: "Vinyasa",
		TimeZone: "Europe/Berlin", CurrentScore: new(int32(122)),
		ScoreParts: &v1.WaitlistScoreParts{Base: 100, TierBonus: 20, EarlyBirdPoints: 2},
	}
	wantEqual(t, "joined", waiting, second)
	test.True(
		t, first.GetPosition() == 1 && first.GetCurrentScore() == 104,
		test.Sprintf("the first stands at %d with %d", first.GetPosition(), first.GetCurrentScore()),
	)

	s.at.Store(10)
	expect.OK(t)(s.call(t, s.Token(t, "coach"), &v1.CancelBookingRequest{BookingId: held}))
	offers := func(request *v1.ListOffersRequest) []*v1.Offer {
		t.Helper()
		return expect.Value(s.ListOffers(t.Context(), as(s.Token(t, "coach"), request)))(t).Msg.GetOffers()
	}
	live := offers(&v1.ListOffersRequest{SessionId: class})
	must.EqOp(t, 1, len(live), must.Sprintf("%d offers", len(live)))
	offer := &v1.Offer{
		Id: live[0].GetId(), SessionId: class, EntryId: second.GetId(), MemberId: waiting.GetMemberId(), MemberName: "Member",
		Seats:  1,
		Status: v1.OfferStatus_OFFER_STATUS_LIVE, Try: 1, CreateTime: at(10), ExpireTime: at(40), SessionTitle: "Vinyasa",
		SessionStartTime: starts,
		TimeZone:         "Europe/Berlin",
	}
	wantEqual(t, "offered", offer, live[0])
	waiting.Status, waiting.Offers, waiting.LiveOffer = v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_OFFERED, 1, offer
	wantEqual(t, "her entry", []*v1.WaitlistEntry{waiting}, s.myEntries(t, "member", false))

	s.at.Store(20)
	declined := expect.Value(s.DeclineOffer(
		t.Context(), as(s.Token(t, "member"), &v1.DeclineOfferRequest{OfferId: offer.GetId(), Reason: "A cold."}),
	))(t)
	offer = proto.CloneOf(offer)
	offer.Status, offer.CloseTime, offer.Reason = v1.OfferStatus_OFFER_STATUS_DECLINED, at(20), "A cold."
	waiting.Status, waiting.LiveOffer = v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_WAITING, nil
	wantEqual(t, "declined", &v1.DeclineOfferResponse{Offer: offer, Entry: waiting}, declined.Msg)

	s.at.Store(25)
	live = offers(&v1.ListOffersRequest{Statuses: []v1.OfferStatus{v1.OfferStatus_OFFER_STATUS_LIVE}})
	must.True(
		t, len(live) == 1 && live[0].GetEntryId() == first.GetId() && live[0].GetTry() == 2,
		must.Sprintf("then there is %v", live),
	)
	for _, repeated := range []string{"false", "true"} {
		accepted := expect.Value(
			s.AcceptOffer(t.Context(), as(s.Token(t, "admin"), &v1.AcceptOfferRequest{OfferId: live[0].GetId()})),
		)(t)
		o, b := accepted.Msg.GetOffer(), accepted.Msg.GetBooking()
		test.True(
			t, o.GetStatus() == v1.OfferStatus_OFFER_STATUS_ACCEPTED && o.GetCloseTime().AsTime().Equal(s.now()) &&
				o.GetBookingId() == b.GetId() && b.GetStatus() == v1.BookingStatus_BOOKING_STATUS_CONFIRMED &&
				b.GetSessionId() == class && b.GetMemberId() == convert.IDText(s.Members["admin"]),
			test.Sprintf("accepted: %v", accepted.Msg),
		)
		h := accepted.Header()
		test.True(
			t, h.Get("X-Booking-Status") == "CONFIRMED" && h.Get("X-Idempotent") == repeated, test.Sprintf("headers %v", h),
		)
	}

	decisions := expect.Value(
		s.ListDecisions(t.Context(), as(s.Token(t, "coach"), &v1.ListDecisionsRequest{SessionId: class})),
	)(t)
	verdict := func(
		name string, entry *v1.WaitlistEntry, reason string, score, rank, before int32, sentence string,
		until *timestamppb.Timestamp,
	) *v1.WaitlistVerdict {
		return &v1.WaitlistVerdict{
			EntryId: entry.GetId(), MemberId: entry.GetMemberId(), MemberName: name, Reason: reason, Score: score, Rank: rank,
			PartySize: 1, Sentence: sentence,
			ChosenBefore: before, ExpireTime: until,
		}
	}
	moved := func(when int, changes *v1.WaitlistDecision) *v1.WaitlistDecision {
		return with(&v1.WaitlistDecision{
			SessionId: class, SessionTitle: "Vinyasa", SessionStartTime: starts, TimeZone: "Europe/Berlin", DecideTime: at(when),
			LineLength: 2,
			Mode:       v1.WaitlistMode_WAITLIST_MODE_OFFER, Seats: new(int32(1)), Given: 1, RulesVersion: 1,
		}, changes)
	}
	const passed = "It was not chosen, because "
	want := []*v1.WaitlistDecision{
		moved(20, &v1.WaitlistDecision{
			Trigger: v1.WaitlistTrigger_WAITLIST_TRIGGER_OFFER_DECLINED, Tried: 1,
			Move: v1.WaitlistMove_WAITLIST_MOVE_ROLL_ON,
			Verdicts: []*v1.WaitlistVerdict{
				verdict(
					"Member", second, "TRIED", 122, 1, 0, passed+"the entry had already been offered these seats.", nil,
				),
				verdict(
					"Admin", first, "OFFERED", 104, 2, 0, "It was offered 1 seat, until Monday 16 March 2026 at 13:50.", at(50),
				),
			},
			Sentences: []string{
				"On Monday 16 March 2026 at 13:20 an offer was declined, and 1 seat was open.", "2 entries were on the waitlist.",
				"1 person had already been offered these seats.",
				"Offered to the next: Admin (1 seat, until Monday 16 March 2026 at 13:50).",
				"Not chosen: 1 because the entry had already been offered these seats.",
			},
		}),
		moved(10, &v1.WaitlistDecision{
			Trigger: v1.WaitlistTrigger_WAITLIST_TRIGGER_CANCELLATION, Move: v1.WaitlistMove_WAITLIST_MOVE_OFFER,
			Verdicts: []*v1.WaitlistVerdict{
				verdict(
					"Member", second, "OFFERED", 122, 1, 0, "It was offered 1 seat, until Monday 16 March 2026 at 13:40.", at(40),
				),
				verdict("Admin", first, "NO_SEATS_LEFT", 104, 2, 1, passed+"all open seats went to earlier entries.", nil),
			},
			Sentences: []string{
				"On Monday 16 March 2026 at 13:10 a booking was cancelled, and 1 seat was open.", "2 entries were on the waitlist.",
				"Offered to: Member (1 seat, until Monday 16 March 2026 at 13:40).",
				"Not chosen: 1 because all open seats went to earlier entries.",
			},
		}),
	}
	wantEqual(
		t, "the moves", want, decisions.Msg.GetDecisions(), protocmp.IgnoreFields(&v1.WaitlistDecision{}, "id", "round_id"),
	)
	d := decisions.Msg.GetDecisions()
	test.True(
		t, d[0].GetRoundId() != "" && d[0].GetRoundId() == d[1].GetRoundId(),
		test.Sprint("the moves of one seat are not of one round"),
	)

	p := expect.Value(s.PreviewRules(t.Context(), as(owner, &v1.PreviewRulesRequest{
		ServiceId: s.service, Rules: &v1.WaitlistRules{Order: v1.WaitlistOrder_WAITLIST_ORDER_JOIN_ORDER.Enum()},
		UpdateMask: mask("order"),
	})))(t).Msg
	must.True(
		t, p.GetChanged() == 1 && p.GetGrantedBefore() == 2 && p.GetGrantedDraft() == 2 &&
			p.GetHandedBackBefore()+p.GetHandedBackDraft() == 0 && len(p.GetMoves()) == 2,
		must.Sprintf("preview: %v", p),
	)
	differs := p.GetMoves()[1]
	wantEqual(
		t, "verdicts of the draft",
		[]string{"Would have got a seat instead: Admin.", "Would not have got a seat: Member."}, differs.GetSentences(),
	)
	test.True(
		t, differs.GetChanged() && differs.GetDraftMove() == v1.WaitlistMove_WAITLIST_MOVE_OFFER &&
			differs.GetDraftMode() == v1.WaitlistMode_WAITLIST_MODE_OFFER && len(differs.GetDraftVerdicts()) == 2 &&
			differs.GetDraftVerdicts()[0].GetEntryId() == first.GetId() && !p.GetMoves()[0].GetChanged(),
		test.Sprintf("preview: %v", p),
	)

	analytics := expect.Value(s.GetWaitlistAnalytics(t.Context(), as(owner, &v1.GetWaitlistAnalyticsRequest{})))(t)
	figures := &v1.WaitlistFigures{
		Entries: 2, Active: 1, Booked: 1, OffersSent: 2, Accepted: 1, Declined: 1, AcceptanceRate: 0.5, ConversionRate: 0.5,
		AverageResponseTime: durationpb.New(7*time.Minute + 30*time.Second), AverageCascadeDepth: 2, MaxCascadeDepth: 2,
	}
	row := func(key, name string) []*v1.WaitlistFiguresRow {
		return []*v1.WaitlistFiguresRow{{Key: key, Name: name, Figures: figures}}
	}
	wantEqual(t, "the figures", &v1.GetWaitlistAnalyticsResponse{
		Total: figures, Days: row("2026-03-16", "2026-03-16"), Locations: row(s.location, "Pier 1"),
		Services: row(s.service, "Vinyasa"), CascadeDepths: []int64{0, 1},
	}, analytics.Msg)

	expect.OK(t)(s.LeaveWaitlist(
		t.Context(), as(s.Token(t, "member"), &v1.LeaveWaitlistRequest{EntryId: second.GetId(), Reason: "No longer needed."}),
	))
	waiting.Status, waiting.Position, waiting.CloseTime = v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_CANCELLED, 0, at(25)
	waiting.CurrentScore, waiting.ScoreParts = nil, nil
	wantEqual(t, "what she waits for", []*v1.WaitlistEntry(nil), s.myEntries(t, "member", false))
	wantEqual(t, "what she waited for", []*v1.WaitlistEntry{waiting}, s.myEntries(t, "member", true))
}

// A time window without a last date and times covers the whole first date. Staff find the entry by each field that it
// names.
func TestJoinWaitlist_AcceptsTimeWindow(t *testing.T) {
	t.Parallel()
	s := newWaitlistTest(t)
	expect.OK(t)(s.DB.Owner.Exec(t.Context(), `update services set max_party = 2`))
	window := &v1.WaitlistWindow{
		ServiceId: s.service, LocationId: s.location, ResourceId: s.room, FirstDate: dateMessage(2026, 3, 25),
	}
	request := func(changes *v1.WaitlistWindow) *v1.JoinWaitlistRequest {
		return &v1.JoinWaitlistRequest{
			Wish:      &v1.JoinWaitlistRequest_Window{Window: with(window, changes)},
			PartySize: 2, CoachId: convert.IDText(s.Members["coach"]),
		}
	}
	entry := s.join(t, "member", request(&v1.WaitlistWindow{}))
	want := &v1.WaitlistEntry{
		Id: entry.GetId(), MemberId: convert.IDText(s.Members["member"]), MemberName: "Member", PartySize: 2,
		CoachId: convert.IDText(s.Members["coach"]),
		Status:  v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_WAITING, Position: 1, CreateTime: timestamppb.New(monday),
		SessionTitle: "Vinyasa",
		TimeZone:     "Europe/Berlin", CurrentScore: new(int32(100)), ScoreParts: &v1.WaitlistScoreParts{Base: 100},
		Window: proto.CloneOf(window),
	}
	want.Window.LastDate, want.Window.EarliestStart = window.GetFirstDate(), &timeofday.TimeOfDay{}
	want.Window.LatestStart = &timeofday.TimeOfDay{Hours: 23, Minutes: 59, Seconds: 59}
	wantEqual(t, "joined", want, entry)

	for name, tt := range map[string]struct {
		filter *v1.EntryFilter
		found  bool
	}{
		"nothing named":    {nil, true},
		"the resource":     {&v1.EntryFilter{ResourceId: s.room}, true},
		"another resource": {&v1.EntryFilter{ResourceId: someSession}, false},
		"the service": {
			&v1.EntryFilter{ServiceId: s.service, LocationId: s.location, MemberId: convert.IDText(s.Members["member"])}, true,
		},
		"another member": {&v1.EntryFilter{MemberId: convert.IDText(s.Members["admin"])}, false},
		"those that ended": {
			&v1.EntryFilter{Statuses: []v1.WaitlistEntryStatus{v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_EXPIRED}}, false,
		},
	} {
		response := expect.Value(
			s.ListEntries(t.Context(), as(s.Token(t, "coach"), &v1.ListEntriesRequest{Filter: tt.filter})),
		)(t)
		test.EqOp(t, tt.found, (len(response.Msg.GetEntries()) == 1), test.Sprintf("%s: %v", name, response))
	}
	for field, change := range map[string]*v1.WaitlistWindow{
		"window.first_date":     {FirstDate: dateMessage(2026, 2, 30)},
		"window.last_date":      {LastDate: dateMessage(2026, 3, 24)},
		"window.earliest_start": {EarliestStart: &timeofday.TimeOfDay{Hours: 24}},
		"window.latest_start":   {LatestStart: &timeofday.TimeOfDay{Minutes: 60}},
	} {
		refused(t, "invalid_argument INVALID_FIELD "+field)(
			s.JoinWaitlist(t.Context(), as(s.Token(t, "admin"), request(change))),
		)
	}
}

// Staff offer seats, expire offers, and prioritize, move and remove entries, in every protocol.
func TestWaitlistRPCs_StaffManageEntriesAndOffers(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, web *http.Client, options connect.ClientOption) {
		t.Helper()
		s := newWaitlistTest(t)
		s.WaitlistServiceClient = berthv1connect.NewWaitlistServiceClient(web, s.URL, options)
		owner := s.Token(t, "owner")
		class, _ := s.fullClass(t)
		request := &v1.JoinWaitlistRequest{Wish: &v1.JoinWaitlistRequest_SessionId{SessionId: class}}
		first, second := s.join(t, "admin", request), s.join(t, "member", request)

		lifted := expect.Value(s.SetPriority(
			t.Context(), as(owner, &v1.SetPriorityRequest{EntryId: second.GetId(), Flagged: new(true), Score: new(int32(7))}),
		))(t)
		e := lifted.Msg.GetEntry()
		test.True(
			t, e.GetFlagged() && e.GetScore() == 7 && e.GetCurrentScore() == 7 && e.GetScoreParts() == nil &&
				e.GetPosition() == 1,
			test.Sprintf("lifted: %v", e),
		)
		back := expect.Value(s.SetPriority(
			t.Context(), as(owner, &v1.SetPriorityRequest{EntryId: second.GetId(), Flagged: new(false), Score: new(int32(-1))}),
		))(t)
		e = back.Msg.GetEntry()
		test.True(
			t, !e.GetFlagged() && e.Score == nil && e.GetCurrentScore() == 100 && e.GetScoreParts().GetBase() == 100 &&
				e.GetPosition() == 2, test.Sprintf("taken back: %v", e),
		)
		before := expect.Value(s.MoveEntry(
			t.Context(), as(owner, &v1.MoveEntryRequest{EntryId: second.GetId(), BeforeEntryId: first.GetId()}),
		))(t)
		test.EqOp(t, 1, before.Msg.GetEntry().GetPosition(), test.Sprint("moved"))

		in := s.input(monday.Add(72 * time.Hour))
		open := s.create(t, in, true).GetId()
		until := timestamppb.New(monday.Add(26 * time.Hour))
		created := expect.Value(s.OfferPlace(
			t.Context(), as(owner, &v1.OfferPlaceRequest{SessionId: open, EntryId: second.GetId(), ExpireTime: until}),
		))(t)
		o := created.Msg.GetOffer()
		test.True(
			t, o.GetByHand() && o.GetStatus() == v1.OfferStatus_OFFER_STATUS_LIVE && o.GetSessionId() == open &&
				proto.Equal(o.GetExpireTime(), until),
			test.Sprintf("offered: %v", o),
		)
		for range 2 { // the second call changes nothing
			ended := expect.Value(
				s.ExpireOffer(t.Context(), as(owner, &v1.ExpireOfferRequest{OfferId: created.Msg.GetOffer().GetId()})),
			)(t)
			test.EqOp(
				t, v1.OfferStatus_OFFER_STATUS_EXPIRED, ended.Msg.GetOffer().GetStatus(), test.Sprintf("ended: %v", ended),
			)
		}
		for range 2 {
			removed := expect.Value(s.RemoveEntry(
				t.Context(), as(owner, &v1.RemoveEntryRequest{EntryId: first.GetId(), Reason: "Asked by phone."}),
			))(t)
			test.True(
				t, removed.Msg.GetEntry().GetStatus() == v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_CANCELLED &&
					removed.Msg.GetEntry().GetPosition() == 0,
				test.Sprintf("removed: %v", removed),
			)
		}
		created = expect.Value(
			s.OfferPlace(t.Context(), as(owner, &v1.OfferPlaceRequest{SessionId: open, EntryId: second.GetId()})),
		)(t)
		taken := expect.Value(
			s.AcceptOffer(t.Context(), as(owner, &v1.AcceptOfferRequest{OfferId: created.Msg.GetOffer().GetId()})),
		)(t)
		must.True(
			t, taken.Msg.GetBooking().GetMemberId() == second.GetMemberId() && taken.Msg.GetBooking().GetSessionId() == open,
			must.Sprintf("taken for her: %v", taken),
		)

		// Entries that no longer wait are not changed, and the error says what happened to them.
		for name, entry := range map[string]string{"CANCELLED": first.GetId(), "BOOKED": second.GetId()} {
			for act, err := range map[string]error{
				"lifted": errorOf(
					s.SetPriority(t.Context(), as(owner, &v1.SetPriorityRequest{EntryId: entry, Flagged: new(true)})),
				),
				"moved": errorOf(s.MoveEntry(t.Context(), as(owner, &v1.MoveEntryRequest{EntryId: entry}))),
				"offered": errorOf(
					s.OfferPlace(t.Context(), as(owner, &v1.OfferPlaceRequest{SessionId: open, EntryId: entry})),
				),
			} {
				refused(t, "failed_precondition BOOKING_STATE status="+name, test.Sprint(act))(err)
			}
		}
		refused(t, "BOOKING_STATE booking_id="+taken.Msg.GetBooking().GetId())(
			s.RemoveEntry(t.Context(), as(owner, &v1.RemoveEntryRequest{EntryId: second.GetId()})),
		)
	})
}
