package main

import (
	"regexp"

	"google.golang.org/genproto/googleapis/type/date"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Wishes of all kinds, promotion, and what staff do with entries.
func recordWaitlist(s *studio) {
	recordWishes(s)
	recordQueueByHand(s)
	recordPromotions(s)
}

// full makes a session of one seat, which somebody has.
func (s *studio) full(name string, day int, clock string, change ...func(*v1.SessionInput)) (session string, seat *v1.Booking) {
	s.t.Helper()
	session = s.class(name, on(day, clock), append(change, capacity(1))...)
	return session, s.book(s.zoe, session)
}

func wishFor(session string) *v1.JoinWaitlistRequest {
	return &v1.JoinWaitlistRequest{Wish: &v1.JoinWaitlistRequest_SessionId{SessionId: session}}
}

func june(day int32) *date.Date { return &date.Date{Year: 2024, Month: 6, Day: day} }

func recordWishes(s *studio) {
	evening, _ := s.full("evening", 7, "18:00")
	night, _ := s.full("night", 7, "20:00")
	open, closed := s.class("open", on(7, "12:00")), s.class("closed", on(8, "12:00"), capacity(0), waitlistRoom(0))
	joined := ok[*v1.JoinWaitlistResponse](s.recording, s.mia, "Mia waits for the evening", wishFor(evening)).GetEntry()
	s.refused(s.mia, "Mia waits twice", "ALREADY_BOOKED", wishFor(evening))
	s.refused(s.zoe, "Zoe waits for what she has", "ALREADY_BOOKED", wishFor(evening))
	s.refused(s.tom, "Tom waits where seats are open", "SEATS_AVAILABLE", wishFor(open))
	s.refused(s.tom, "Tom waits where there is no waitlist", "WAITLIST_CLOSED", wishFor(closed))
	s.refused(s.tom, "Tom waits for nothing", "SESSION_NOT_FOUND", wishFor(nobodysID))
	s.refused(s.tom, "Tom waits for no wish", "INVALID_FIELD", &v1.JoinWaitlistRequest{})
	either := &v1.JoinWaitlistRequest{
		Wish:    &v1.JoinWaitlistRequest_AnyOf{AnyOf: &v1.SessionChoice{SessionIds: []string{night, evening}}},
		CoachId: s.cora.id, ExternalRef: "either", Note: "Either will do.",
	}
	toms := ok[*v1.JoinWaitlistResponse](s.recording, s.tom, "Tom waits for either", either).GetEntry()
	s.do(s.tom, "Tom waits for either again", either)
	either.Note = "Neither will do."
	s.refused(s.tom, "Tom's reference says something else", "EXTERNAL_REF_CONFLICT", either)
	s.refused(s.noah, "Noah finds the waitlist full", "WAITLIST_FULL", wishFor(evening))
	window := &v1.WaitlistWindow{
		ServiceId: s.yoga, LocationId: s.center, FirstDate: june(10), LastDate: june(12), EarliestStart: timeOfDay(9, 0), LatestStart: timeOfDay(12, 0),
	}
	in := &v1.JoinWaitlistRequest{Wish: &v1.JoinWaitlistRequest_Window{Window: window}, PartySize: 2}
	noahs := ok[*v1.JoinWaitlistResponse](s.recording, s.noah, "Noah waits for a morning", in).GetEntry()
	window.ServiceId = nobodysID
	s.refused(s.noah, "Noah waits for no service", "SERVICE_NOT_FOUND", in)
	window.ServiceId, window.LocationId = s.yoga, nobodysID
	s.refused(s.noah, "Noah waits at no location", "LOCATION_NOT_FOUND", in)
	window.LocationId, window.ResourceId = s.center, nobodysID
	s.refused(s.noah, "Noah waits in no room", "RESOURCE_NOT_FOUND", in)
	forLena := wishFor(night)
	forLena.MemberId = s.lena.id
	s.refused(s.mia, "Mia puts Lena on the waitlist", "MEMBER_NOT_FOUND", forLena)
	s.do(s.adam, "The admin puts Lena on the waitlist", forLena)

	s.do(s.mia, "Mia lists her entries", &v1.ListMyEntriesRequest{})
	s.do(s.cora, "The coach lists entries", &v1.ListEntriesRequest{})
	page := ok[*v1.ListEntriesResponse](s.recording, s.cora, "The coach lists one entry", &v1.ListEntriesRequest{PageSize: 1})
	s.do(s.cora, "The coach lists the next", &v1.ListEntriesRequest{PageSize: 1, PageToken: page.GetNextPageToken()})
	s.do(s.cora, "The coach lists entries of the evening", &v1.ListEntriesRequest{Filter: &v1.EntryFilter{SessionId: evening}})
	s.do(s.cora, "The coach lists entries of windows", &v1.ListEntriesRequest{Filter: &v1.EntryFilter{
		ServiceId: s.yoga, LocationId: s.center, DesiredWithin: between(on(9, "00:00"), on(14, "00:00")),
	}})
	s.refused(s.mia, "Mia lists all entries", "PERMISSION_DENIED", &v1.ListEntriesRequest{})
	s.do(s.mia, "Mia leaves", &v1.LeaveWaitlistRequest{EntryId: joined.GetId(), Reason: "Found another."})
	s.do(s.mia, "Mia leaves again", &v1.LeaveWaitlistRequest{EntryId: joined.GetId()})
	s.refused(s.mia, "Mia leaves for Tom", "ENTRY_NOT_FOUND", &v1.LeaveWaitlistRequest{EntryId: toms.GetId()})
	s.do(s.mia, "Mia lists her closed entries", &v1.ListMyEntriesRequest{IncludeClosed: true})
	s.do(s.mia, "Mia asks why", &v1.ExplainEntryRequest{EntryId: joined.GetId()})
	s.refused(s.mia, "Mia asks about Noah", "ENTRY_NOT_FOUND", &v1.ExplainEntryRequest{EntryId: noahs.GetId()})
	s.class("morning", on(11, "11:00"))
	s.do(s.noah, "Noah lists his entries after a morning was published", &v1.ListMyEntriesRequest{IncludeClosed: true})
}

func recordQueueByHand(s *studio) {
	s.at(on(5, "10:10"))
	class, seat := s.full("busy", 13, "18:00", waitlistRoom(5))
	var entries []string
	for _, who := range []person{s.mia, s.tom, s.lena, s.noah} {
		s.silently(func() {
			entries = append(entries, made[*v1.JoinWaitlistResponse](s.recording, who, wishFor(class)).GetEntry().GetId())
		})
	}
	other, _ := s.full("other", 14, "18:00")
	s.silently(func() {
		made[*v1.JoinWaitlistResponse](s.recording, s.mia, wishFor(other))
	})
	s.do(s.adam, "The admin flags Lena", &v1.SetPriorityRequest{EntryId: entries[2], Flagged: new(true), Reason: "Waited for long."})
	s.do(s.adam, "The admin scores Noah", &v1.SetPriorityRequest{EntryId: entries[3], Score: new(int32(500))})
	s.do(s.adam, "The admin takes the score away", &v1.SetPriorityRequest{EntryId: entries[3], Score: new(int32(-1))})
	s.refused(s.adam, "The admin flags nothing", "ENTRY_NOT_FOUND", &v1.SetPriorityRequest{EntryId: nobodysID, Flagged: new(true)})
	s.do(s.adam, "The admin moves Noah before Tom", &v1.MoveEntryRequest{EntryId: entries[3], BeforeEntryId: entries[1], Reason: "Asked nicely."})
	s.do(s.adam, "The admin moves Mia to the end", &v1.MoveEntryRequest{EntryId: entries[0]})
	s.refused(s.adam, "The admin moves Tom before nothing", "ENTRY_NOT_FOUND", &v1.MoveEntryRequest{EntryId: entries[1], BeforeEntryId: nobodysID})
	s.refused(s.cora, "The coach moves Tom", "PERMISSION_DENIED", &v1.MoveEntryRequest{EntryId: entries[1]})
	s.do(s.adam, "The admin removes Tom", &v1.RemoveEntryRequest{EntryId: entries[1], Reason: "Called."})
	s.do(s.adam, "The admin removes Tom again", &v1.RemoveEntryRequest{EntryId: entries[1]})
	s.refused(s.adam, "The admin flags Tom, who is gone", "BOOKING_STATE", &v1.SetPriorityRequest{EntryId: entries[1], Flagged: new(true)})
	s.do(s.cora, "The coach reads the roster", &v1.ListRosterRequest{SessionId: class})
	s.do(s.zoe, "Zoe gives her seat up", &v1.CancelBookingRequest{BookingId: seat.GetId()})
	s.do(s.lena, "Lena lists her bookings", &v1.ListMyBookingsRequest{})
	s.refused(s.lena, "Lena leaves the waitlist after she was booked", "BOOKING_STATE", &v1.LeaveWaitlistRequest{EntryId: entries[2]})
	s.do(s.cora, "The coach asks about the session", &v1.ExplainSessionRequest{SessionId: class})
	s.refused(s.cora, "The coach asks about no session", "SESSION_NOT_FOUND", &v1.ExplainSessionRequest{SessionId: nobodysID})
}

// What frees seats gives them to those who wait.
func recordPromotions(s *studio) {
	s.at(on(5, "10:20"))
	class, seat := s.full("larger", 15, "10:00", waitlistRoom(5))
	for _, who := range []person{s.mia, s.tom, s.lena} {
		s.silently(func() {
			made[*v1.JoinWaitlistResponse](s.recording, who, wishFor(class))
		})
	}
	s.settle()
	s.do(s.cora, "The coach makes room for one more", &v1.UpdateSessionRequest{
		SessionId: class, Session: &v1.SessionInput{Capacity: new(int32(2))}, UpdateMask: paths("capacity"),
	})
	s.do(s.adam, "The admin blocks it", &v1.BlockSessionRequest{SessionId: class})
	s.do(s.zoe, "Zoe cancels while it is blocked", &v1.CancelBookingRequest{BookingId: seat.GetId()})
	s.do(s.adam, "The admin unblocks it", &v1.UnblockSessionRequest{SessionId: class})
	s.do(s.adam, "The admin cancels it", &v1.CancelSessionRequest{SessionId: class, Reason: "Storm."})
	s.do(s.lena, "Lena reads what became of her entries", &v1.ListMyEntriesRequest{IncludeClosed: true})

	// The only one who waits has no seat for a party of her own.
	pair, held := s.full("pair", 15, "14:00")
	s.silently(func() {
		made[*v1.BookResponse](s.recording, s.noah, &v1.BookRequest{SessionId: pair, PartySize: 2})
	})
	s.do(s.zoe, "Zoe frees one seat for a party of two", &v1.CancelBookingRequest{BookingId: held.GetId()})
	s.do(s.cora, "The coach lists decisions", &v1.ListDecisionsRequest{})
	s.do(s.cora, "The coach lists decisions with a note", &v1.ListDecisionsRequest{WithNote: true, DecidedWithin: week()})
}

var claimLink = regexp.MustCompile(`/claim/([A-Za-z0-9_-]+)`)

// claim finds the token of an offer in the message that tells of it.
func (s *studio) claim(offer *v1.Offer) string {
	s.t.Helper()
	var token string
	s.silently(func() {
		sent := made[*v1.ListOutboxResponse](s.recording, s.olga, &v1.ListOutboxRequest{Filter: &v1.DeliveryFilter{OfferId: offer.GetId()}})
		for _, m := range sent.GetMessages() {
			if found := claimLink.FindStringSubmatch(m.GetMessage().GetText() + m.GetMessage().GetLink()); found != nil {
				token = found[1]
			}
		}
	})
	if token == "" {
		s.t.Fatalf("no message tells of the offer to %s", offer.GetMemberName())
	}
	return token
}

// liveOffer finds the live offer of a session, silently.
func (s *studio) liveOffer(session string) *v1.Offer {
	s.t.Helper()
	var offers []*v1.Offer
	s.silently(func() {
		offers = made[*v1.ListOffersResponse](s.recording, s.olga, &v1.ListOffersRequest{
			SessionId: session, Statuses: []v1.OfferStatus{v1.OfferStatus_OFFER_STATUS_LIVE},
		}).GetOffers()
	})
	if len(offers) != 1 {
		s.t.Fatalf("%d live offers", len(offers))
	}
	return offers[0]
}
