package main

import (
	"google.golang.org/genproto/googleapis/type/date"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Entries of all kinds, promotion, and edits of entries by staff.
func waitlistScript() script {
	return script{
		promotes(),
		joiningScript(),
		entryEditsScript(),
		promotionsScript(),
	}
}

// promotes has freed seats booked for those who wait.
func promotes() exchange {
	return olga.silently(&v1.UpdateWaitlistRulesRequest{
		Rules: &v1.WaitlistRules{
			Mode: new(v1.WaitlistMode_WAITLIST_MODE_AUTO_PROMOTE), PromoteAfterCancellationWindow: new(true),
		},
		UpdateMask: paths("mode", "promote_after_cancellation_window"),
	})
}

// fullSession creates a session whose only seat is booked, by "$name-seat".
func fullSession(name string, day int, clock string, changes ...*v1.SessionInput) script {
	return script{class(name, on(day, clock), append(changes, capacity(1))...), zoe.books("$" + name).as(name + "-seat")}
}

func joinRequest(session string) *v1.JoinWaitlistRequest {
	return &v1.JoinWaitlistRequest{Target: &v1.JoinWaitlistRequest_SessionId{SessionId: session}}
}

func june(day int32) *date.Date { return &date.Date{Year: 2024, Month: 6, Day: day} }

func joiningScript() script {
	either := &v1.JoinWaitlistRequest{
		Target:  &v1.JoinWaitlistRequest_AnyOf{AnyOf: &v1.SessionChoice{SessionIds: []string{"$night", "$evening"}}},
		CoachId: "$cora", ExternalRef: "either", Note: "Either will do.",
	}
	window := func(changes *v1.WaitlistWindow) *v1.JoinWaitlistRequest {
		return &v1.JoinWaitlistRequest{Target: &v1.JoinWaitlistRequest_Window{Window: with(&v1.WaitlistWindow{
			ServiceId: "$yoga", LocationId: "$center", FirstDate: june(10), LastDate: june(12), EarliestStart: timeOfDay(9, 0),
			LatestStart: timeOfDay(12, 0),
		}, changes)}, PartySize: new(int32(2))}
	}
	forLena := with(joinRequest("$night"), &v1.JoinWaitlistRequest{MemberId: "$lena"})
	return script{
		fullSession("evening", 7, "18:00"),
		fullSession("night", 7, "20:00"),
		class("open", on(7, "12:00")),
		class("closed", on(8, "12:00"), capacity(0), waitlistCapacity(0)),
		mia.calls("Mia waits for the evening", joinRequest("$evening")).as("joined"),
		mia.refused("Mia waits twice", "ALREADY_BOOKED", joinRequest("$evening")),
		zoe.refused("Zoe waits for what she has", "ALREADY_BOOKED", joinRequest("$evening")),
		tom.refused("Tom waits where seats are open", "SEATS_AVAILABLE", joinRequest("$open")),
		tom.refused("Tom waits where there is no waitlist", "WAITLIST_CLOSED", joinRequest("$closed")),
		tom.refused("Tom waits for nothing", "SESSION_NOT_FOUND", joinRequest(absentID)),
		tom.refused("Tom waits for no target", "INVALID_FIELD", &v1.JoinWaitlistRequest{}),
		tom.calls("Tom waits for either", either).as("toms"),
		tom.calls("Tom waits for either again", either),
		tom.refused("Tom's reference says something else", "EXTERNAL_REF_CONFLICT",
			with(either, &v1.JoinWaitlistRequest{Note: "Neither will do."})),
		noah.refused("Noah finds the waitlist full", "WAITLIST_FULL", joinRequest("$evening")),
		noah.calls("Noah waits for a morning", window(&v1.WaitlistWindow{})).as("noahs"),
		noah.refused("Noah waits for no service", "SERVICE_NOT_FOUND", window(&v1.WaitlistWindow{ServiceId: absentID})),
		noah.refused("Noah waits at no location", "LOCATION_NOT_FOUND", window(&v1.WaitlistWindow{LocationId: absentID})),
		noah.refused("Noah waits in no room", "RESOURCE_NOT_FOUND", window(&v1.WaitlistWindow{ResourceId: absentID})),
		mia.refused("Mia puts Lena on the waitlist", "MEMBER_NOT_FOUND", forLena),
		adam.calls("The admin puts Lena on the waitlist", forLena),
		mia.calls("Mia lists her entries", &v1.ListWaitlistEntriesRequest{}),
		cora.calls("The coach lists entries", &v1.ListWaitlistEntriesRequest{Scope: v1.ListScope_LIST_SCOPE_ALL}),
		cora.calls(
			"The coach lists one entry",
			&v1.ListWaitlistEntriesRequest{Scope: v1.ListScope_LIST_SCOPE_ALL, PageSize: 1},
		).as(
			"page",
		),
		cora.calls("The coach lists the next", &v1.ListWaitlistEntriesRequest{
			Scope: v1.ListScope_LIST_SCOPE_ALL, PageSize: 1, PageToken: "$page.nextPageToken",
		}),
		cora.calls("The coach lists entries of the evening",
			&v1.ListWaitlistEntriesRequest{
				Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: &v1.WaitlistEntryFilter{SessionId: "$evening"},
			}),
		cora.calls("The coach lists entries of windows", &v1.ListWaitlistEntriesRequest{
			Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: &v1.WaitlistEntryFilter{
				ServiceId: "$yoga", LocationId: "$center", StartsWithin: between(on(9, "00:00"), on(14, "00:00")),
			},
		}),
		mia.refused("Mia lists all entries", "PERMISSION_DENIED",
			&v1.ListWaitlistEntriesRequest{Scope: v1.ListScope_LIST_SCOPE_ALL}),
		mia.calls("Mia reads her entry", &v1.GetWaitlistEntryRequest{EntryId: "$joined.entry.id"}),
		cora.calls("The coach reads Mia's entry", &v1.GetWaitlistEntryRequest{EntryId: "$joined.entry.id"}),
		mia.refused("Mia reads Tom's entry", "WAITLIST_ENTRY_NOT_FOUND",
			&v1.GetWaitlistEntryRequest{EntryId: "$toms.entry.id"}),
		mia.calls("Mia leaves", &v1.LeaveWaitlistRequest{EntryId: "$joined.entry.id", Reason: "Found another."}),
		mia.calls("Mia leaves again", &v1.LeaveWaitlistRequest{EntryId: "$joined.entry.id"}),
		mia.refused("Mia leaves for Tom", "WAITLIST_ENTRY_NOT_FOUND", &v1.LeaveWaitlistRequest{EntryId: "$toms.entry.id"}),
		mia.calls("Mia lists her closed entries", withEnded()),
		mia.calls("Mia asks why", &v1.ExplainWaitlistEntryRequest{EntryId: "$joined.entry.id"}),
		mia.refused(
			"Mia asks about Noah",
			"WAITLIST_ENTRY_NOT_FOUND",
			&v1.ExplainWaitlistEntryRequest{EntryId: "$noahs.entry.id"},
		),
		class("morning", on(11, "11:00")),
		noah.calls("Noah lists his entries after a morning was published", withEnded()),
	}
}

func entryEditsScript() script {
	return script{
		clock(on(5, "10:10")),
		fullSession("busy", 13, "18:00", waitlistCapacity(5)),
		mia.silently(joinRequest("$busy")).as("mias"),
		tom.silently(joinRequest("$busy")).as("toms"),
		lena.silently(joinRequest("$busy")).as("lenas"),
		noah.silently(joinRequest("$busy")).as("noahs"),
		fullSession("other", 14, "18:00"),
		mia.silently(joinRequest("$other")),
		adam.calls("The admin flags Lena",
			&v1.SetWaitlistPriorityRequest{EntryId: "$lenas.entry.id", Flagged: new(true), Reason: "Waited for long."}),
		adam.calls(
			"The admin scores Noah",
			&v1.SetWaitlistPriorityRequest{EntryId: "$noahs.entry.id", Score: new(int32(500))},
		),
		adam.calls("The admin takes the score away",
			&v1.SetWaitlistPriorityRequest{EntryId: "$noahs.entry.id", ClearScore: true}),
		adam.refused("The admin flags nothing", "WAITLIST_ENTRY_NOT_FOUND",
			&v1.SetWaitlistPriorityRequest{EntryId: absentID, Flagged: new(true)}),
		adam.calls("The admin moves Noah before Tom",
			&v1.MoveWaitlistEntryRequest{EntryId: "$noahs.entry.id", BeforeEntryId: "$toms.entry.id", Reason: "Asked nicely."}),
		adam.calls("The admin moves Mia to the end", &v1.MoveWaitlistEntryRequest{EntryId: "$mias.entry.id"}),
		adam.refused("The admin moves Tom before nothing", "WAITLIST_ENTRY_NOT_FOUND",
			&v1.MoveWaitlistEntryRequest{EntryId: "$toms.entry.id", BeforeEntryId: absentID}),
		cora.refused("The coach moves Tom", "PERMISSION_DENIED", &v1.MoveWaitlistEntryRequest{EntryId: "$toms.entry.id"}),
		adam.calls("The admin removes Tom", &v1.RemoveWaitlistEntryRequest{EntryId: "$toms.entry.id", Reason: "Called."}),
		adam.calls("The admin removes Tom again", &v1.RemoveWaitlistEntryRequest{EntryId: "$toms.entry.id"}),
		adam.refused("The admin flags Tom, who is gone", "WAITLIST_ENTRY_STATE",
			&v1.SetWaitlistPriorityRequest{EntryId: "$toms.entry.id", Flagged: new(true)}),
		cora.calls("The coach reads the roster", &v1.GetSessionRosterRequest{SessionId: "$busy"}),
		zoe.calls("Zoe gives her seat up", &v1.CancelBookingRequest{BookingId: "$busy-seat.booking.id"}),
		lena.calls("Lena lists her bookings", &v1.ListBookingsRequest{}),
		lena.refused("Lena leaves the waitlist after she was booked", "WAITLIST_ENTRY_STATE",
			&v1.LeaveWaitlistRequest{EntryId: "$lenas.entry.id"}),
		cora.calls("The coach asks about the session", &v1.ExplainSessionWaitlistRequest{SessionId: "$busy"}),
		cora.refused("The coach asks about no session", "SESSION_NOT_FOUND",
			&v1.ExplainSessionWaitlistRequest{SessionId: absentID}),
	}
}

// Freed seats go to waiting entries.
func promotionsScript() script {
	return script{
		clock(on(5, "10:20")),
		fullSession("larger", 15, "10:00", waitlistCapacity(5)),
		mia.silently(joinRequest("$larger")),
		tom.silently(joinRequest("$larger")),
		lena.silently(joinRequest("$larger")),
		cora.calls("The coach makes room for one more", &v1.UpdateSessionRequest{
			SessionId: "$larger", Session: &v1.SessionInput{Capacity: new(int32(2))}, UpdateMask: paths("capacity"),
		}),
		adam.calls("The admin blocks it", &v1.BlockSessionRequest{SessionId: "$larger"}),
		zoe.calls("Zoe cancels while it is blocked", &v1.CancelBookingRequest{BookingId: "$larger-seat.booking.id"}),
		adam.calls("The admin unblocks it", &v1.UnblockSessionRequest{SessionId: "$larger"}),
		adam.calls("The admin cancels it", &v1.CancelSessionRequest{SessionId: "$larger", Reason: "Storm."}),
		lena.calls("Lena reads what became of her entries", withEnded()),
		fullSession("pair", 15, "14:00"),
		noah.silently(&v1.BookRequest{SessionId: "$pair", PartySize: new(int32(2))}),
		zoe.calls("Zoe frees one seat for a party of two", &v1.CancelBookingRequest{BookingId: "$pair-seat.booking.id"}),
		cora.calls("The coach lists decisions", &v1.ListWaitlistDecisionsRequest{}),
		cora.calls("The coach lists decisions with a note",
			&v1.ListWaitlistDecisionsRequest{
				Filter: &v1.WaitlistDecisionFilter{HasNote: new(true), DecidedWithin: week()},
			}),
		adam.calls("The admin tries offers", &v1.PreviewWaitlistRulesRequest{
			Rules:      &v1.WaitlistRules{Mode: new(v1.WaitlistMode_WAITLIST_MODE_OFFER)},
			UpdateMask: paths("mode"), Limit: new(int32(1)), DecidedWithin: week(),
		}),
	}
}

// withEnded lists the caller's entries, also those that no longer wait.
func withEnded() *v1.ListWaitlistEntriesRequest {
	return &v1.ListWaitlistEntriesRequest{Filter: &v1.WaitlistEntryFilter{Statuses: []v1.WaitlistEntryStatus{
		v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_WAITING, v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_OFFERED,
		v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_BOOKED, v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_CANCELLED,
		v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_EXPIRED,
	}}}
}

// liveOffer reads the live offers of a session.
func liveOffer(session string) exchange {
	return olga.silently(&v1.ListWaitlistOffersRequest{Filter: &v1.WaitlistOfferFilter{
		SessionId: session, Statuses: []v1.WaitlistOfferStatus{v1.WaitlistOfferStatus_WAITLIST_OFFER_STATUS_LIVE},
	}})
}
