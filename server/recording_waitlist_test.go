package main

import (
	"regexp"

	"google.golang.org/genproto/googleapis/type/date"

	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Entries of all kinds, promotion, and edits of entries by staff.
func recordWaitlist(s *studio) {
	recordJoining(s)
	recordEntryEdits(s)
	recordPromotions(s)
}

// fullSession creates a session whose only seat is booked.
func (s *studio) fullSession(
	name string, day int, clock string, change ...func(*v1.SessionInput),
) (session string, seat *v1.Booking) {
	s.t.Helper()
	session = s.class(name, on(day, clock), append(change, capacity(1))...)
	return session, s.book(s.zoe, session)
}

func joinRequest(session string) *v1.JoinWaitlistRequest {
	return &v1.JoinWaitlistRequest{Wish: &v1.JoinWaitlistRequest_SessionId{SessionId: session}}
}

func june(day int32) *date.Date { return &date.Date{Year: 2024, Month: 6, Day: day} }

func recordJoining(s *studio) {
	evening, _ := s.fullSession("evening", 7, "18:00")
	night, _ := s.fullSession("night", 7, "20:00")
	open, closed := s.class("open", on(7, "12:00")), s.class("closed", on(8, "12:00"), capacity(0), waitlistCapacity(0))
	joined := recordResponse[*v1.JoinWaitlistResponse](
		s.recording, s.mia, "Mia waits for the evening", joinRequest(evening),
	).GetEntry()
	s.recordError(s.mia, "Mia waits twice", "ALREADY_BOOKED", joinRequest(evening))
	s.recordError(s.zoe, "Zoe waits for what she has", "ALREADY_BOOKED", joinRequest(evening))
	s.recordError(s.tom, "Tom waits where seats are open", "SEATS_AVAILABLE", joinRequest(open))
	s.recordError(s.tom, "Tom waits where there is no waitlist", "WAITLIST_CLOSED", joinRequest(closed))
	s.recordError(s.tom, "Tom waits for nothing", "SESSION_NOT_FOUND", joinRequest(absentID))
	s.recordError(s.tom, "Tom waits for no wish", "INVALID_FIELD", &v1.JoinWaitlistRequest{})
	either := &v1.JoinWaitlistRequest{
		Wish:    &v1.JoinWaitlistRequest_AnyOf{AnyOf: &v1.SessionChoice{SessionIds: []string{night, evening}}},
		CoachId: s.cora.id, ExternalRef: "either", Note: "Either will do.",
	}
	toms := recordResponse[*v1.JoinWaitlistResponse](s.recording, s.tom, "Tom waits for either", either).GetEntry()
	s.record(s.tom, "Tom waits for either again", either)
	either.Note = "Neither will do."
	s.recordError(s.tom, "Tom's reference says something else", "EXTERNAL_REF_CONFLICT", either)
	s.recordError(s.noah, "Noah finds the waitlist full", "WAITLIST_FULL", joinRequest(evening))
	window := &v1.WaitlistWindow{
		ServiceId: s.yoga, LocationId: s.center, FirstDate: june(10), LastDate: june(12), EarliestStart: timeOfDay(9, 0),
		LatestStart: timeOfDay(12, 0),
	}
	in := &v1.JoinWaitlistRequest{Wish: &v1.JoinWaitlistRequest_Window{Window: window}, PartySize: 2}
	noahs := recordResponse[*v1.JoinWaitlistResponse](s.recording, s.noah, "Noah waits for a morning", in).GetEntry()
	window.ServiceId = absentID
	s.recordError(s.noah, "Noah waits for no service", "SERVICE_NOT_FOUND", in)
	window.ServiceId, window.LocationId = s.yoga, absentID
	s.recordError(s.noah, "Noah waits at no location", "LOCATION_NOT_FOUND", in)
	window.LocationId, window.ResourceId = s.center, absentID
	s.recordError(s.noah, "Noah waits in no room", "RESOURCE_NOT_FOUND", in)
	forLena := joinRequest(night)
	forLena.MemberId = s.lena.id
	s.recordError(s.mia, "Mia puts Lena on the waitlist", "MEMBER_NOT_FOUND", forLena)
	s.record(s.adam, "The admin puts Lena on the waitlist", forLena)

	s.record(s.mia, "Mia lists her entries", &v1.ListMyEntriesRequest{})
	s.record(s.cora, "The coach lists entries", &v1.ListEntriesRequest{})
	page := recordResponse[*v1.ListEntriesResponse](
		s.recording, s.cora, "The coach lists one entry", &v1.ListEntriesRequest{PageSize: 1},
	)
	s.record(s.cora, "The coach lists the next", &v1.ListEntriesRequest{PageSize: 1, PageToken: page.GetNextPageToken()})
	s.record(
		s.cora, "The coach lists entries of the evening", &v1.ListEntriesRequest{Filter: &v1.EntryFilter{SessionId: evening}},
	)
	s.record(s.cora, "The coach lists entries of windows", &v1.ListEntriesRequest{Filter: &v1.EntryFilter{
		ServiceId: s.yoga, LocationId: s.center, DesiredWithin: between(on(9, "00:00"), on(14, "00:00")),
	}})
	s.recordError(s.mia, "Mia lists all entries", "PERMISSION_DENIED", &v1.ListEntriesRequest{})
	s.record(s.mia, "Mia leaves", &v1.LeaveWaitlistRequest{EntryId: joined.GetId(), Reason: "Found another."})
	s.record(s.mia, "Mia leaves again", &v1.LeaveWaitlistRequest{EntryId: joined.GetId()})
	s.recordError(s.mia, "Mia leaves for Tom", "ENTRY_NOT_FOUND", &v1.LeaveWaitlistRequest{EntryId: toms.GetId()})
	s.record(s.mia, "Mia lists her closed entries", &v1.ListMyEntriesRequest{IncludeClosed: true})
	s.record(s.mia, "Mia asks why", &v1.ExplainEntryRequest{EntryId: joined.GetId()})
	s.recordError(s.mia, "Mia asks about Noah", "ENTRY_NOT_FOUND", &v1.ExplainEntryRequest{EntryId: noahs.GetId()})
	s.class("morning", on(11, "11:00"))
	s.record(s.noah, "Noah lists his entries after a morning was published", &v1.ListMyEntriesRequest{IncludeClosed: true})
}

func recordEntryEdits(s *studio) {
	s.startAt(on(5, "10:10"))
	class, seat := s.fullSession("busy", 13, "18:00", waitlistCapacity(5))
	var entries []string
	for _, caller := range []person{s.mia, s.tom, s.lena, s.noah} {
		s.silently(func() {
			entries = append(
				entries, mustCall[*v1.JoinWaitlistResponse](s.recording, caller, joinRequest(class)).GetEntry().GetId(),
			)
		})
	}
	other, _ := s.fullSession("other", 14, "18:00")
	s.silently(func() {
		mustCall[*v1.JoinWaitlistResponse](s.recording, s.mia, joinRequest(other))
	})
	s.record(
		s.adam, "The admin flags Lena",
		&v1.SetPriorityRequest{EntryId: entries[2], Flagged: new(true), Reason: "Waited for long."},
	)
	s.record(s.adam, "The admin scores Noah", &v1.SetPriorityRequest{EntryId: entries[3], Score: new(int32(500))})
	s.record(s.adam, "The admin takes the score away", &v1.SetPriorityRequest{EntryId: entries[3], Score: new(int32(-1))})
	s.recordError(
		s.adam, "The admin flags nothing", "ENTRY_NOT_FOUND", &v1.SetPriorityRequest{EntryId: absentID, Flagged: new(true)},
	)
	s.record(
		s.adam, "The admin moves Noah before Tom",
		&v1.MoveEntryRequest{EntryId: entries[3], BeforeEntryId: entries[1], Reason: "Asked nicely."},
	)
	s.record(s.adam, "The admin moves Mia to the end", &v1.MoveEntryRequest{EntryId: entries[0]})
	s.recordError(
		s.adam, "The admin moves Tom before nothing", "ENTRY_NOT_FOUND",
		&v1.MoveEntryRequest{EntryId: entries[1], BeforeEntryId: absentID},
	)
	s.recordError(s.cora, "The coach moves Tom", "PERMISSION_DENIED", &v1.MoveEntryRequest{EntryId: entries[1]})
	s.record(s.adam, "The admin removes Tom", &v1.RemoveEntryRequest{EntryId: entries[1], Reason: "Called."})
	s.record(s.adam, "The admin removes Tom again", &v1.RemoveEntryRequest{EntryId: entries[1]})
	s.recordError(
		s.adam, "The admin flags Tom, who is gone", "BOOKING_STATE",
		&v1.SetPriorityRequest{EntryId: entries[1], Flagged: new(true)},
	)
	s.record(s.cora, "The coach reads the roster", &v1.ListRosterRequest{SessionId: class})
	s.record(s.zoe, "Zoe gives her seat up", &v1.CancelBookingRequest{BookingId: seat.GetId()})
	s.record(s.lena, "Lena lists her bookings", &v1.ListMyBookingsRequest{})
	s.recordError(
		s.lena, "Lena leaves the waitlist after she was booked", "BOOKING_STATE",
		&v1.LeaveWaitlistRequest{EntryId: entries[2]},
	)
	s.record(s.cora, "The coach asks about the session", &v1.ExplainSessionRequest{SessionId: class})
	s.recordError(
		s.cora, "The coach asks about no session", "SESSION_NOT_FOUND", &v1.ExplainSessionRequest{SessionId: absentID},
	)
}

// Freed seats go to waiting entries.
func recordPromotions(s *studio) {
	s.startAt(on(5, "10:20"))
	class, seat := s.fullSession("larger", 15, "10:00", waitlistCapacity(5))
	for _, caller := range []person{s.mia, s.tom, s.lena} {
		s.silently(func() {
			mustCall[*v1.JoinWaitlistResponse](s.recording, caller, joinRequest(class))
		})
	}
	s.settle()
	s.record(s.cora, "The coach makes room for one more", &v1.UpdateSessionRequest{
		SessionId: class, Session: &v1.SessionInput{Capacity: new(int32(2))}, UpdateMask: paths("capacity"),
	})
	s.record(s.adam, "The admin blocks it", &v1.BlockSessionRequest{SessionId: class})
	s.record(s.zoe, "Zoe cancels while it is blocked", &v1.CancelBookingRequest{BookingId: seat.GetId()})
	s.record(s.adam, "The admin unblocks it", &v1.UnblockSessionRequest{SessionId: class})
	s.record(s.adam, "The admin cancels it", &v1.CancelSessionRequest{SessionId: class, Reason: "Storm."})
	s.record(s.lena, "Lena reads what became of her entries", &v1.ListMyEntriesRequest{IncludeClosed: true})

	// The only waiting entry is for a larger party than the freed seats.
	pair, held := s.fullSession("pair", 15, "14:00")
	s.silently(func() {
		mustCall[*v1.BookResponse](s.recording, s.noah, &v1.BookRequest{SessionId: pair, PartySize: 2})
	})
	s.record(s.zoe, "Zoe frees one seat for a party of two", &v1.CancelBookingRequest{BookingId: held.GetId()})
	s.record(s.cora, "The coach lists decisions", &v1.ListDecisionsRequest{})
	s.record(
		s.cora, "The coach lists decisions with a note", &v1.ListDecisionsRequest{WithNote: true, DecidedWithin: week()},
	)
}

var claimLink = regexp.MustCompile(`/claim/([A-Za-z0-9_-]+)`)

// claim returns the token of an offer from its message.
func (s *studio) claim(offer *v1.Offer) string {
	s.t.Helper()
	var token string
	s.silently(func() {
		sent := mustCall[*v1.ListOutboxResponse](
			s.recording, s.olga, &v1.ListOutboxRequest{Filter: &v1.DeliveryFilter{OfferId: offer.GetId()}},
		)
		for _, m := range sent.GetMessages() {
			if found := claimLink.FindStringSubmatch(m.GetMessage().GetText() + m.GetMessage().GetLink()); found != nil {
				token = found[1]
			}
		}
	})
	must.True(s.t, token != "", must.Sprintf("no message tells of the offer to %s", offer.GetMemberName()))
	return token
}

// liveOffer returns the live offer of a session, without recording the call.
func (s *studio) liveOffer(session string) *v1.Offer {
	s.t.Helper()
	var offers []*v1.Offer
	s.silently(func() {
		offers = mustCall[*v1.ListOffersResponse](s.recording, s.olga, &v1.ListOffersRequest{
			SessionId: session, Statuses: []v1.OfferStatus{v1.OfferStatus_OFFER_STATUS_LIVE},
		}).GetOffers()
	})
	must.EqOp(s.t, 1, len(offers), must.Sprintf("%d live offers", len(offers)))
	return offers[0]
}
