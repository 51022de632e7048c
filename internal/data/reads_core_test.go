package data

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/tenant"
)

var coreReads = []read{
	{coredb.ListAudit, args{coredb.AuditQuery{Limit: 9}}, "other audit third"},
	{coredb.ListAudit, args{coredb.AuditQuery{Limit: 1}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{Actor: uuid("member"), Limit: 9}}, "audit"},
	{coredb.ListAudit, args{coredb.AuditQuery{Actor: uuid("account"), Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{Actor: uuid("booking"), Limit: 9}}, ""},
	{coredb.ListAudit, args{coredb.AuditQuery{ActorKind: coredb.ByMember, Limit: 9}}, "audit"},
	{coredb.ListAudit, args{coredb.AuditQuery{ActorKind: coredb.ByServiceAccount, Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{ActorKind: coredb.BySystem, Limit: 9}}, "third"},
	{coredb.ListAudit, args{coredb.AuditQuery{Action: "CANCEL", Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{TargetKind: "session", Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{TargetID: "x", Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{Batch: id[tenant.BatchID]("batch"), Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{From: now.Add(time.Hour), Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{Until: now.Add(time.Hour), Limit: 9}}, "audit third"},
	{coredb.ListAudit, args{coredb.AuditQuery{
		AfterAt: now.Add(time.Hour), AfterID: id[tenant.AuditID]("other"), Limit: 9,
	}}, "audit third"},
	{coredb.FindSnapshotVersion, nil, "1"},
	{coredb.HasOldKeys, args{now}, "true"},
	{coredb.HasOldKeys, args{now.Add(-time.Second)}, "false"},
	{coredb.IsAudited, args{uuid("member").String(), "BOOK", "booking", "", now}, "true"},
	{coredb.IsAudited, args{uuid("member").String(), "BOOK", "booking", "", now.Add(time.Second)}, "false"},
	{coredb.IsAudited, args{"system", "BOOK", "booking", "", now}, "false"},
	{coredb.IsAudited, args{uuid("member").String(), "CANCEL", "booking", "", now}, "false"},
	{coredb.IsAudited, args{uuid("member").String(), "BOOK", "session", "", now}, "false"},
	{coredb.IsAudited, args{uuid("member").String(), "BOOK", "booking", "x", now}, "false"},
	{coredb.CountMembers, args{9}, "4"},
	{coredb.CountMembers, args{2}, "2"},
	{coredb.CountSessions, args{99}, "8"},
	{coredb.CountSessions, args{2}, "2"},
	{coredb.FindAnswer, args{coredb.Claim{
		Principal: "ana", Procedure: "Book", Key: "key", Since: now.Add(-time.Second),
	}}, strings.Trim(fmt.Sprintf("%d", sha("request")), "[]") + "/1"},
	{coredb.FindAnswer, args{coredb.Claim{Principal: "ana", Procedure: "Book", Key: "key", Since: now}}, "none"},
	{coredb.FindAnswer, args{coredb.Claim{Principal: "bo", Procedure: "Book", Key: "key"}}, "none"},
	{coredb.FindAnswer, args{coredb.Claim{Principal: "ana", Procedure: "Join", Key: "key"}}, "none"},
	{coredb.FindAnswer, args{coredb.Claim{Principal: "ana", Procedure: "Book", Key: "x"}}, "none"},
	{coredb.CountKeys, args{"ana", now.Add(-time.Second), 9}, "1"},
	{coredb.CountKeys, args{"ana", now.Add(-time.Second), 0}, "0"},
	{coredb.CountKeys, args{"ana", now, 9}, "0"},
	{coredb.CountKeys, args{"bo", now.Add(-time.Second), 9}, "0"},
	check(
		"seats taken are those of bookings and offers",
		"fifth/seats_taken is 0, its bookings take 1, its live offers 0, its rounds keep 0 "+
			"session/seats_taken is 0, its bookings take 3, its live offers 1, its rounds keep 0 "+
			"third/seats_taken is 0, its bookings take 4, its live offers 0, its rounds keep 0",
	),
	check("no session has more seats taken than its capacity", ""),
	check("no active booking is in a session that is cancelled or deleted", ""),
	check("holds counts the pending bookings", "fifth/holds is 0, pending are 1 session/holds is 0, pending are 2"),
	check("item reservations match the status of their bookings", ""),
	check("no unit of an item is reserved twice at once", ""),
	check("no member has two active bookings in one session", ""),
	check("bookings that allow no overlap have none", ""),
	check("no resource and no coach is in two sessions at once", ""),
	check(
		"the span of a booking is that of its session",
		"third/2026-03-02 08:00:00+00 to 2026-03-02 09:00:00+00, "+
			"its session 2026-03-02 09:00:00+00 to 2026-03-02 10:00:00+00",
	),
	check("waiting counts the entries that name the session", ""),
	check("queues count their entries", ""),
	check("entries have places while they are waiting or offered", "unit/it is OFFERED and has 0 places"),
	check("places are in the queues of their sessions", ""),
	check(
		"an entry is offered exactly if it has a live offer",
		"other/it is WAITING, its live offers are 1 third/it is WAITING, its live offers are 1 "+
			"unit/it is OFFERED, its live offers are 0 waiting/it is WAITING, its live offers are 1",
	),
	check("live offers are for bookable sessions", "other/its session other is DRAFT"),
	check("no round offers more seats than were freed", "other/1 were freed, 1 are on offer, 1 are kept"),
	check("a round keeps seats only while it has a shared offer", "other/it keeps 1 without a live shared offer"),
	check("every accepted offer has a booking", ""),
	check("no member has two bookings or entries in one session", "session/member member has 2 places"),
	check("balances are the sums of their ledgers", "subscription/balance is 0, its ledger sums to 4"),
	check(
		"the balance of a ledger line is the sum of all lines up to it",
		"entry/line 1 says 9; it is line 1 and makes -1 other/line 2 says 14; it is line 2 and makes 4",
	),
	check("a booking holds the credits that its ledger lines charged", "booking/it holds 0, its lines say 1"),
	check("the totals of a payment line are the sums of all lines up to it", ""),
	check("the payment of a booking is what its lines say", "booking/it is UNPAID, its lines say REFUNDED"),
	check("unlimited and course plans move no credits", ""),
	check("no booking is on a course plan", ""),
	check("a cancellation in time has refunded its credits", ""),
	check(
		"quotas count the bookings that count against them",
		"subscription/DAY of 2026-03-02: used is 1, counted are 0 "+
			"subscription/WEEK of 2026-03-02: used is 3, counted are 0",
	),
	check("every booked entry has a decision", ""),
	check("every booked entry has a booking", ""),
	check(
		"has_workouts says whether a session has workouts",
		"other/has_workouts is f, attached are 1 session/has_workouts is f, attached are 2",
	),
	check(
		"the tokens of devices are sealed",
		"device/its token is not sealed; nodes seal such tokens within a minute "+
			"notice/its token is not sealed; nodes seal such tokens within a minute "+
			"other/its token is not sealed; nodes seal such tokens within a minute "+
			"third/its token is not sealed; nodes seal such tokens within a minute",
	),
}

// check reads the violations of a check.
func check(name, want string) read {
	i := slices.IndexFunc(coredb.Checks, func(c coredb.Check) bool { return c.Name == name })
	return read{coredb.FindViolations, args{coredb.Checks[i]}, want}
}
