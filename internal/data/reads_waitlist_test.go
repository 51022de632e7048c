package data

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

var tenantLevel = waitlistdb.EditedLevel{Level: catalog.TenantLevel, Scope: uuid("tenant")}

// clocks are those of Vienna, if they went forward by eleven hours now and back after three days.
var clocks = []coredb.Clock{
	{Zone: "Europe/Vienna", Until: now, Ahead: time.Hour},
	{Zone: "Europe/Vienna", Since: now, Until: now.Add(72 * time.Hour), Ahead: 12 * time.Hour},
	{Zone: "Europe/Vienna", Since: now.Add(72 * time.Hour), Until: now.Add(96 * time.Hour), Ahead: time.Hour},
}

var waitlistReads = []read{

	// The waitlist.
	{waitlistdb.FindEntry, args{"waiting"}, "waiting"},
	{waitlistdb.FindEntry, args{"third"}, "third"},
	{waitlistdb.FindEntryFunc, args{"waiting"}, "waiting"},
	{waitlistdb.FindEntryByRef, args{"ref2"}, "other"},
	{waitlistdb.FindEntryByRef, args{""}, "none"},
	{waitlistdb.FindActiveEntry, args{"session", "third"}, "other"},
	{waitlistdb.ListWaiting, args{"session"}, "second waiting other"},
	{waitlistdb.ListOtherEntries, args{"session"}, "other second"},
	{waitlistdb.ListOtherEntries, args{"session other"}, "other second"},
	{waitlistdb.ListWindows, args{"member", "service", "location"}, "third"},
	{waitlistdb.ListWindows, args{"third", "service", "location"}, ""},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Limit: 9}}, "second waiting other third fourth unit device item"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Limit: 2}}, "second waiting"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		AfterKey: 2, AfterID: id[tenant.EntryID]("other"), Limit: 9,
	}}, "third fourth unit device item"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Session: id[tenant.SessionID]("other"), Limit: 9}}, "other"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		Location: id[tenant.LocationID]("location"), Limit: 9,
	}}, "second waiting other third fourth unit device"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Location: id[tenant.LocationID]("other"), Limit: 9}}, "item"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		Service: id[tenant.ServiceID]("service"), Limit: 9,
	}}, "second waiting other third fourth unit device item"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Service: id[tenant.ServiceID]("other"), Limit: 9}}, ""},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		Resource: id[tenant.ResourceID]("resource"), Limit: 9,
	}}, "second waiting other third fourth device"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Member: id[tenant.MemberID]("third"), Limit: 9}}, "other"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		Statuses: []waitlist.Status{waitlist.Expired}, Limit: 9,
	}}, "fourth"},
	{
		waitlistdb.ListEntries, args{waitlistdb.EntryQuery{From: start.Add(time.Second), Limit: 9}},
		"other third unit item",
	},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{From: start.Add(72 * time.Hour), Limit: 9}}, ""},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Until: start, Limit: 9}}, "third"},
	{waitlistdb.FindOffer, args{"offer"}, "offer"},
	{waitlistdb.FindOffer, args{"third"}, "third"},
	{waitlistdb.ListOffersByID, args{"offer other fourth"}, "offer; other"},
	{waitlistdb.ListNotifiedOffers, args{"offer other third"}, "third"},
	{waitlistdb.ListOffersByCode, args{"+4413", [][]byte{sha("99"), sha("34")}}, "other unit"},
	{waitlistdb.ListOffersByCode, args{"+4412", [][]byte{sha("34")}}, ""},
	{waitlistdb.ListOffersByCode, args{"", [][]byte{sha("12")}}, ""},
	{waitlistdb.ListOffersByCode, args{"+4413", [][]byte{sha("99")}}, ""},
	{waitlistdb.ListLiveOffers, args{"session"}, "offer second"},
	{waitlistdb.ListLiveOffersIn, args{"round"}, "offer second"},
	{waitlistdb.ListDueOffers, args{start, 9}, "other unit second offer"},
	{waitlistdb.ListDueOffers, args{start, 1}, "other"},
	{waitlistdb.ListDueOffers, args{start.Add(-time.Hour), 9}, "other"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Limit: 9}}, "third offer second other unit"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Limit: 1}}, "third"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Oldest: true, Limit: 9}}, "unit other second offer third"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Oldest: true, Limit: 1}}, "unit"},
	{
		waitlistdb.ListOffers, args{waitlistdb.OfferQuery{AfterID: id[tenant.OfferID]("offer"), Limit: 9}},
		"second other unit",
	},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{
		AfterID: id[tenant.OfferID]("offer"), Oldest: true, Limit: 9,
	}}, "third"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Session: id[tenant.SessionID]("other"), Limit: 9}}, "other"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Location: id[tenant.LocationID]("other"), Limit: 9}}, "unit"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Service: id[tenant.ServiceID]("other"), Limit: 9}}, "unit"},
	{
		waitlistdb.ListOffers, args{waitlistdb.OfferQuery{From: now, Until: now.Add(time.Second), Limit: 9}},
		"offer second other unit",
	},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Entry: id[tenant.EntryID]("waiting"), Limit: 9}}, "third offer"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Member: id[tenant.MemberID]("third"), Limit: 9}}, "other unit"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{
		Statuses: []waitlist.OfferStatus{waitlist.Declined}, Limit: 9,
	}}, "third"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{
		Starts: civil.Span{Start: start, End: start.Add(time.Second)}, Limit: 9,
	}}, "third offer second"},
	{waitlistdb.FindQueueSize, args{"session"}, "4"},
	{waitlistdb.ListAwaited, args{"session other third"}, "session other"},
	{waitlistdb.ListAwaited, args{"audit device waiting"}, "waiting device audit"},
	{waitlistdb.FindRound, args{"round"}, "round [waiting waiting third] [2]"},
	{waitlistdb.FindRound, args{"other"}, "other [other] [1]"},
	{waitlistdb.FindLastRound, args{"session"}, "round [waiting waiting third] [2]"},
	{waitlistdb.ListKeepingRounds, args{"session other"}, "other [] [0]"},
	{waitlistdb.FindLastRulesVersion, nil, "2"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Limit: 9}}, "decision sixth other fifth"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Oldest: true, Limit: 9}}, "fifth other sixth decision"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Limit: 1}}, "decision"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		Session: id[tenant.SessionID]("other"), Limit: 9,
	}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		Location: id[tenant.LocationID]("other"), Limit: 9,
	}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		Service: id[tenant.ServiceID]("other"), Limit: 9,
	}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{From: now.Add(time.Hour), Limit: 9}}, "other"},
	{
		waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Until: now.Add(time.Hour), Limit: 9}},
		"decision sixth fifth",
	},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{HasNote: new(true), Limit: 9}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{HasNote: new(false), Limit: 9}}, "decision sixth fifth"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		Starts: civil.Span{Start: start, End: start.Add(time.Second)}, Limit: 9,
	}}, "decision fifth"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{OpenNotes: true, Now: now, Limit: 9}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		OpenNotes: true, Now: start.AddDate(1, 0, 0), Limit: 9,
	}}, ""},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		AfterID: id[tenant.DecisionID]("decision"), Limit: 9,
	}}, "sixth other fifth"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		AfterID: id[tenant.DecisionID]("decision"), Oldest: true, Limit: 9,
	}}, ""},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Entry: id[tenant.EntryID]("waiting"), Limit: 9}}, "other"},
	{
		waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Queues: []waitlist.Queue{queue}, Limit: 9}},
		"decision sixth fifth",
	},
	{waitlistdb.ListQueues, args{[]waitlist.Queue{queue}},
		"{Queue={Location=location Service=service Date=2026-03-02} Waiting=4}"},
	{waitlistdb.ListSessionQueues, args{"other"},
		"{Location=location Service=service Date=2026-03-02} {Location=location Service=service " +
			"Date=2026-03-03}"},
	{waitlistdb.ListOpenSlots, args{
		"location", "service", civil.Span{Start: start, End: start.Add(13 * time.Hour)}, 1,
	},
		"{Session=session Service=service Location=location Resource=resource Coach=member StartsAt=02T08:00 " +
			"EndsAt=02T09:00 " +
			"Closes=02T08:00 Opens=31T08:00 Zone=Europe/Vienna} {Session=fifth Service=service Location=location " +
			"StartsAt=02T09:00 EndsAt=02T10:00 " +
			"Closes=02T09:00 Opens=31T09:00 Zone=Europe/Vienna} {Session=seventh Service=service " +
			"Location=location StartsAt=02T20:00 EndsAt=02T21:00 " +
			"Closes=02T20:00 Opens=31T20:00 Zone=Europe/Vienna}"},
	{waitlistdb.ListOpenSlots, args{
		"location", "service", civil.Span{Start: start, End: start.Add(12 * time.Hour)}, 8,
	},
		"{Session=session Service=service Location=location Resource=resource Coach=member StartsAt=02T08:00 " +
			"EndsAt=02T09:00 " +
			"Closes=02T08:00 Opens=31T08:00 Zone=Europe/Vienna} {Session=fifth Service=service Location=location " +
			"StartsAt=02T09:00 EndsAt=02T10:00 " +
			"Closes=02T09:00 Opens=31T09:00 Zone=Europe/Vienna}"},
	{waitlistdb.ListOpenSlots, args{
		"location", "service", civil.Span{Start: start, End: start.Add(13 * time.Hour)}, 9,
	},
		"{Session=seventh Service=service Location=location StartsAt=02T20:00 EndsAt=02T21:00 " +
			"Closes=02T20:00 Opens=31T20:00 Zone=Europe/Vienna}"},
	{
		waitlistdb.ListOpenSlots, args{"other", "service", civil.Span{Start: start, End: start.Add(24 * time.Hour)}, 1},
		"{Session=waiting Service=service Location=other Coach=third StartsAt=02T10:00 EndsAt=02T11:00 " +
			"Closes=02T10:00 Opens=31T10:00 Zone=Europe/Paris} {Session=device Service=service Location=other Resource=third " +
			"StartsAt=02T11:00 EndsAt=02T12:00 " +
			"Closes=02T11:00 Opens=31T11:00 Zone=Europe/Paris} {Session=audit Service=service " +
			"Location=other Coach=third StartsAt=02T11:00 EndsAt=02T12:00 " +
			"Closes=02T11:00 Opens=31T11:00 Zone=Europe/Paris}",
	},
	{waitlistdb.ListUnfilled, args{now, 9}, "session waiting audit"},
	{waitlistdb.ListUnfilled, args{now, 0}, ""},
	{waitlistdb.ListUnfilled, args{start, 9}, "waiting audit"},
	{waitlistdb.ListEndingEntries, args{start, now, "", 9}, "other device second waiting third"},
	{waitlistdb.ListEndingEntries, args{start, now, "other", 9}, "device second waiting third"},
	{waitlistdb.ListEndingEntries, args{start, now, "", 1}, "other"},
	{waitlistdb.ListEndingEntries, args{start.Add(-time.Second), now, "", 9}, "other device second waiting third"},
	{waitlistdb.ListEndingEntries, args{start.Add(-time.Second), now.Add(-time.Second), "", 9}, "second"},
	{
		waitlistdb.ListEndingEntries, args{start.Add(24 * time.Hour), time.Time{}, "", 9},
		"other device second waiting third",
	},
	{waitlistdb.ListEndingEntries, args{start.Add(15 * time.Hour), time.Time{}, "", 9}, "other device second waiting"},
	{waitlistdb.CountWaitlist, args{waitlistdb.WaitlistPeriod{
		Span:    civil.Span{Start: now.Add(-3 * time.Hour), End: now.Add(time.Second)},
		Service: id[tenant.ServiceID]("service"), Clocks: clocks,
	}},
		"{Location=location Service=service Day=2026-03-02 Entries=6 Active=5} {Location=other Service=service " +
			"Day=2026-03-02 Entries=1 Active=1}; {Location=location Service=service Day=2026-03-01 Offers=1 " +
			"Declined=1 ResponseTime=30m0s} {Location=location Service=service Day=2026-03-02 Offers=1 Live=1} " +
			"{Location=location Service=service Day=2026-03-02 Offers=2 Live=2}"},
	{waitlistdb.CountWaitlist, args{waitlistdb.WaitlistPeriod{
		Span: civil.Span{Start: now, End: now.Add(time.Second)}, Clocks: clocks,
	}},
		"{Location=location Service=service Day=2026-03-02 Entries=6 Active=5} {Location=other Service=service " +
			"Day=2026-03-02 Entries=1 Active=1}; {Location=location Service=service Day=2026-03-02 Offers=1 " +
			"Live=1} {Location=location Service=service Day=2026-03-02 Offers=2 Live=2} {Location=other " +
			"Service=other Day=2026-03-02 Offers=1 Live=1}"},
	{waitlistdb.CountWaitlist, args{waitlistdb.WaitlistPeriod{
		Span: civil.Span{Start: now.Add(-time.Second), End: now}, Clocks: clocks,
	}}, "; "},
	{waitlistdb.CountWaitlist, args{waitlistdb.WaitlistPeriod{
		Span: civil.Span{Start: now, End: start}, Location: id[tenant.LocationID]("other"), Clocks: clocks,
	}},
		"{Location=other Service=service Day=2026-03-02 Entries=1 Active=1}; {Location=other Service=other " +
			"Day=2026-03-02 Offers=1 Live=1}"},
	{waitlistdb.CountWaitlist, args{waitlistdb.WaitlistPeriod{
		Span: civil.Span{Start: now, End: start}, Service: id[tenant.ServiceID]("other"), Clocks: clocks,
	}}, "; {Location=other Service=other Day=2026-03-02 Offers=1 Live=1}"},
	{waitlistdb.ListOrphans, args{0}, "; "},
	{waitlistdb.ListOrphans, args{9}, "unit item; key other"},
	{waitlistdb.FindOfferByClaim, args{sha("claim")}, "offer"},
	{waitlistdb.FindActiveEntry, args{"other", "third"}, "other"},
	{waitlistdb.FindActiveEntry, args{"other", "member"}, "none"},
	{
		waitlistdb.ListRules, args{"location", "service"},
		"{Level=TENANT Scope=tenant Version=3} {Level=LOCATION Scope=location Settings={Enabled=false} " +
			"Version=5} {Level=SERVICE Scope=service Settings={ExpireStale=true} Version=4}",
	},
	{waitlistdb.ListAllRules, nil,
		"{Level=TENANT Scope=tenant Version=3} {Level=LOCATION Scope=other Version=6} {Level=LOCATION " +
			"Scope=location Settings={Enabled=false} Version=5} {Level=SERVICE Scope=service " +
			"Settings={ExpireStale=true} Version=4}"},
	{waitlistdb.ListRulesVersions, args{waitlistdb.RulesVersionQuery{
		Limit: 9,
	}},
		"{Level=TENANT Scope=tenant Version=2 Actor=ana At=01T12:00} {Level=TENANT Scope=tenant Version=1 " +
			"Actor=ana At=01T12:00}"},
	{waitlistdb.ListRulesVersions, args{waitlistdb.RulesVersionQuery{
		Limit: 1,
	}}, "{Level=TENANT Scope=tenant Version=2 Actor=ana At=01T12:00}"},
	{waitlistdb.ListEditedLevels, nil,
		"{Level=TENANT Scope=tenant Rules=3 Policy=1} {Level=LOCATION Scope=other Rules=6} {Level=LOCATION " +
			"Scope=location Rules=5 Policy=1}"},
	{
		waitlistdb.ListOpenAwaited, args{tenantLevel, now, waitlistdb.OpenSession{}, 9},
		"session fifth waiting device audit seventh code",
	},
	{
		waitlistdb.ListOpenAwaited, args{tenantLevel, now, waitlistdb.OpenSession{}, 20},
		"session fifth waiting device audit seventh code",
	},
	{waitlistdb.ListOpenAwaited, args{tenantLevel, now, waitlistdb.OpenSession{}, 2}, "session fifth"},
	{
		waitlistdb.ListOpenAwaited, args{tenantLevel, start.Add(time.Hour), waitlistdb.OpenSession{}, 9},
		"fifth waiting device audit seventh code",
	},
	{waitlistdb.ListOpenAwaited, args{tenantLevel, now, waitlistdb.OpenSession{
		ID: id[tenant.SessionID]("session"), StartsAt: start,
	}, 9}, "fifth waiting device audit seventh code"},
	{waitlistdb.ListOpenAwaited, args{waitlistdb.EditedLevel{
		Level: catalog.LocationLevel, Scope: uuid("other"),
	}, now, waitlistdb.OpenSession{}, 9}, "waiting device audit"},
	{waitlistdb.ListOpenAwaited, args{waitlistdb.EditedLevel{
		Level: catalog.ServiceLevel, Scope: uuid("other"),
	}, now, waitlistdb.OpenSession{}, 9}, ""},
	{waitlistdb.ListQueued, args{waitlistdb.QueueQuery{
		Session: id[tenant.SessionID]("other"),
		Queue:   waitlist.Queue{Location: queue.Location, Service: queue.Service, Date: day.AddDays(1)},
	}}, "third other"},
	{waitlistdb.ListQueued, args{waitlistdb.QueueQuery{
		Session: id[tenant.SessionID]("other"), Limit: 1,
		Queue: waitlist.Queue{Location: queue.Location, Service: queue.Service, Date: day.AddDays(1)},
	}}, "third"},
	{
		waitlistdb.ListEnding, args{"waiting other"},
		"{Entry=other Places={Location=location Service=service Date=2026-03-02 Session=session " +
			"Starts=02T08:00 Ends=02T09:00 Zone=Europe/Vienna} {Location=location Service=service Date=2026-03-03 " +
			"Session=other Starts=03T08:00 Ends=03T09:00 Zone=Europe/Vienna} {Location=location Service=service " +
			"Date=2026-03-02 Session=seventh Starts=02T20:00 Ends=02T21:00 Zone=Europe/Vienna}} {Entry=waiting " +
			"Places={Location=location Service=service Date=2026-03-02 Session=session Starts=02T08:00 Ends=02T09:00 " +
			"Zone=Europe/Vienna}}",
	},
	{
		waitlistdb.ListEnding, args{"waiting"},
		"{Entry=waiting Places={Location=location Service=service Date=2026-03-02 Session=session " +
			"Starts=02T08:00 Ends=02T09:00 Zone=Europe/Vienna}}",
	},
	{
		waitlistdb.FindWaitSlot, args{"session"},
		"{Session=session Service=service Location=location Resource=resource Coach=member StartsAt=02T08:00 " +
			"EndsAt=02T09:00 Zone=Europe/Vienna ServiceName=Rowing LocationName=Pier}",
	},
	{waitlistdb.ListQueued, args{waitlistdb.QueueQuery{
		Session: id[tenant.SessionID]("session"),
		Queue:   queue,
	}}, "second waiting other"},
	{waitlistdb.ListQueued, args{waitlistdb.QueueQuery{
		Session: id[tenant.SessionID]("session"), Limit: 1,
		Queue: queue,
	}}, "second"},
	{
		waitlistdb.ListRivals, args{waitlistdb.RivalQuery{Member: id[tenant.MemberID]("third")}},
		"other>other:other:03T08:00:Rowing/Pier:false other>other:session:02T08:00:Rowing/Pier:false " +
			"other>other:seventh:02T20:00:Rowing/Pier:false " +
			"other>second:session:02T08:00:Rowing/Pier:false other>third:other:03T08:00:Rowing/Pier:true " +
			"other>waiting:session:02T08:00:Rowing/Pier:false",
	},
	{
		waitlistdb.ListRivals, args{waitlistdb.RivalQuery{Session: id[tenant.SessionID]("session")}},
		"other>other:session:02T08:00:Rowing/Pier:false " +
			"other>second:session:02T08:00:Rowing/Pier:false " +
			"other>waiting:session:02T08:00:Rowing/Pier:false " +
			"second>other:session:02T08:00:Rowing/Pier:false " +
			"second>second:session:02T08:00:Rowing/Pier:false " +
			"second>waiting:session:02T08:00:Rowing/Pier:false " +
			"waiting>other:session:02T08:00:Rowing/Pier:false " +
			"waiting>second:session:02T08:00:Rowing/Pier:false " +
			"waiting>waiting:session:02T08:00:Rowing/Pier:false",
	},
	{
		waitlistdb.ListRivals, args{waitlistdb.RivalQuery{Entries: []tenant.EntryID{id[tenant.EntryID]("third")}}},
		"third>other:00000000-0000-0000-0000-000000000000:02T23:00:Rowing/Pier:false " +
			"third>third:00000000-0000-0000-0000-000000000000:02T23:00:Rowing/Pier:true",
	},
	{waitlistdb.ListQueued, args{waitlistdb.QueueQuery{
		Session: id[tenant.SessionID]("session"), Queue: queue, AfterKey: 1, AfterID: id[tenant.EntryID]("second"),
	}}, "waiting other"},
	{waitlistdb.ListRivalOffers, args{waitlistdb.RivalQuery{Member: id[tenant.MemberID]("third")}}, "other unit"},
	{waitlistdb.ListRivalOffers, args{waitlistdb.RivalQuery{
		Entries: []tenant.EntryID{id[tenant.EntryID]("waiting")},
	}}, "offer"},
	{waitlistdb.ListEndingEntries, args{start, now.Add(-4 * time.Hour), "other", 9}, "second waiting"},
	{waitlistdb.ListSessionQueues, args{"device"}, "{Location=location Service=service Date=2026-03-02}"},
	{
		waitlistdb.ListRulesVersions, args{waitlistdb.RulesVersionQuery{Before: 2, Limit: 9}},
		"{Level=TENANT Scope=tenant Version=1 Actor=ana At=01T12:00}",
	},
	{waitlistdb.ListRulesVersions, args{waitlistdb.RulesVersionQuery{
		Level: catalog.TenantLevel, Scope: uuid("tenant"), Limit: 9,
	}},
		"{Level=TENANT Scope=tenant Version=2 Actor=ana At=01T12:00} {Level=TENANT Scope=tenant Version=1 " +
			"Actor=ana At=01T12:00}"},
	{waitlistdb.ListRulesVersions, args{waitlistdb.RulesVersionQuery{
		Level: catalog.TenantLevel, Scope: uuid("other"), Limit: 9,
	}}, ""},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{HasNote: new(true), Oldest: true, Limit: 9}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Oldest: true, Limit: 2}}, "fifth other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		Oldest: true, AfterID: id[tenant.DecisionID]("fifth"), Limit: 9,
	}}, "other sixth decision"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		Queues: []waitlist.Queue{queue}, Oldest: true, Limit: 9,
	}}, "fifth sixth decision"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		Entry: id[tenant.EntryID]("waiting"), Oldest: true, Limit: 9,
	}}, "other"},
	{waitlistdb.ListNotifiedOffers, args{"other unit"}, ""},
	{waitlistdb.FindLastRound, args{"fourth"}, "none"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		Statuses: []waitlist.Status{waitlist.Offered}, Limit: 9,
	}}, "unit item"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Resource: id[tenant.ResourceID]("other"), Limit: 9}}, ""},
	{
		waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Until: start.Add(24 * time.Hour), Limit: 9}},
		"second waiting other third fourth unit device item",
	},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Until: now, Limit: 9}}, ""},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{
		Statuses: []waitlist.OfferStatus{waitlist.Declined}, Oldest: true, Limit: 9,
	}}, "third"},
	{waitlistdb.ListOpenSlots, args{
		"other", "service", civil.Span{Start: start.Add(24 * time.Hour), End: start.Add(48 * time.Hour)}, 1,
	}, "{Session=transfer Service=service Location=other StartsAt=03T08:00 EndsAt=03T09:00 " +
		"Closes=03T08:00 Opens=01T08:00 Zone=Europe/Paris}"},
	{waitlistdb.ListOpenSlots, args{"other", "third", civil.Span{Start: start, End: start.Add(24 * time.Hour)}, 1}, ""},
	{waitlistdb.ListRivalOffers, args{waitlistdb.RivalQuery{Member: id[tenant.MemberID]("member")}}, "second offer"},
	{waitlistdb.ListWindows, args{"member", "service", "other"}, ""},
	{
		waitlistdb.FindWaitSlot, args{"third"},
		"{Session=third Service=other Location=other Coach=member StartsAt=02T07:00 EndsAt=02T08:00 " +
			"Zone=Europe/Paris ServiceName=archery LocationName=dock}",
	},
	{waitlistdb.ListRivalOffers, args{waitlistdb.RivalQuery{
		Entries: []tenant.EntryID{id[tenant.EntryID]("third"), id[tenant.EntryID]("other")},
	}}, "second other"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Session: id[tenant.SessionID]("audit"), Limit: 9}}, "item"},
	{waitlistdb.ListWindows, args{"member", "other", "location"}, ""},
	{waitlistdb.CountWaitlist, args{waitlistdb.WaitlistPeriod{
		Span: civil.Span{Start: now.Add(time.Second), End: start}, Clocks: clocks,
	}}, "{Location=location Service=service Day=2026-03-02 Entries=1 Active=1}; "},
	{waitlistdb.FindOfferByClaim, args{sha("other")}, "other"},
	{
		waitlistdb.ListEnding, args{"second"},
		"{Entry=second Places={Location=location Service=service Date=2026-03-02 Session=session " +
			"Starts=02T08:00 Ends=02T09:00 Zone=Europe/Vienna} {Location=location Service=service Date=2026-03-02 " +
			"Session=second Starts=02T07:00 Ends=02T08:00 Gone=true Zone=Europe/Vienna} {Location=location Service=service " +
			"Date=2026-03-02 Session=sixth Starts=02T10:00 Ends=02T11:00 Zone=Europe/Vienna} {Location=location " +
			"Service=service Date=2026-03-02 Session=fourth Starts=02T08:00 Ends=02T09:00 Gone=true Zone=Europe/Vienna}}",
	},
	{
		waitlistdb.ListEntries, args{waitlistdb.EntryQuery{From: start, Limit: 9}},
		"second waiting other third fourth unit device item",
	},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{From: start.Add(48 * time.Hour), Limit: 9}}, "third"},
	{waitlistdb.ListOpenAwaited, args{waitlistdb.EditedLevel{
		Level: catalog.ServiceLevel, Scope: uuid("service"),
	}, now, waitlistdb.OpenSession{}, 9}, "session fifth waiting device audit seventh code"},
	{waitlistdb.ListOpenSlots, args{
		"location", "service", civil.Span{Start: start.Add(-time.Hour), End: start.Add(time.Hour)}, 1,
	},
		"{Session=session Service=service Location=location Resource=resource Coach=member StartsAt=02T08:00 " +
			"EndsAt=02T09:00 " +
			"Closes=02T08:00 Opens=31T08:00 Zone=Europe/Vienna}"},
	{waitlistdb.ListQueued, args{waitlistdb.QueueQuery{
		Session: id[tenant.SessionID]("session"), Queue: queue, AfterFlagged: true, AfterKey: 1,
		AfterID: id[tenant.EntryID]("second"), Limit: 1,
	}}, "second"},
}

// changedWaitlistReads are reads of the rows that more.sql changes in a tenant.
var changedWaitlistReads = []read{
	{waitlistdb.CountWaitlist, args{waitlistdb.WaitlistPeriod{
		Span: civil.Span{Start: now, End: now.Add(time.Second)}, Clocks: clocks,
	}},
		"{Location=location Service=service Day=2026-03-02 Entries=6 Active=3 Booked=3 Promoted=2} " +
			"{Location=other Service=service Day=2026-03-02 Entries=1 Active=1}; {Location=location " +
			"Service=service Day=2026-03-02 Offers=1 Accepted=1 Tries=2 Depths=2=1} {Location=location " +
			"Service=service Day=2026-03-02 Offers=1 Live=1} {Location=location Service=service Day=2026-03-02 " +
			"Offers=1 RanOut=1} {Location=location Service=service Day=2026-03-02 Offers=11 Live=11} " +
			"{Location=other Service=other Day=2026-03-02 Offers=1 Withdrawn=1}"},
	{waitlistdb.FindRound, args{"round"}, "round [waiting unit third] [3]"},
	{waitlistdb.FindRound, args{"other"}, "other [other] [2]"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Limit: 9}}, "second waiting other third fourth unit device item"},
	{waitlistdb.ListRules, args{"location", "service"},
		"{Level=TENANT Scope=changed Version=3} {Level=LOCATION Scope=location Settings={Enabled=false} " +
			"Version=5}"},
	{waitlistdb.ListAllRules, nil,
		"{Level=TENANT Scope=changed Version=3} {Level=LOCATION Scope=other Version=6} {Level=LOCATION " +
			"Scope=location Settings={Enabled=false} Version=5}"},
	{waitlistdb.ListAwaited, args{"session audit"}, "session"},
	{waitlistdb.ListOpenAwaited, args{tenantLevel, now, waitlistdb.OpenSession{}, 9}, "session seventh code"},
	{waitlistdb.ListEndingEntries, args{start.Add(-24 * time.Hour), time.Time{}, "", 9}, "second fourth"},
	{waitlistdb.ListEndingEntries, args{start.Add(-24 * time.Hour), now, "", 9}, "second fourth"},
	{waitlistdb.ListNotifiedOffers, args{"offer other third"}, "third"},
	{
		waitlistdb.ListOffersByCode, args{"+4413", [][]byte{sha("99"), sha("34")}},
		"account fourth series subscription round other line booking unit key",
	},
	{waitlistdb.ListOrphans, args{9}, "unit item; key other"},
	{waitlistdb.ListQueued, args{waitlistdb.QueueQuery{
		Session: id[tenant.SessionID]("session"), Queue: queue, AfterFlagged: true, AfterKey: 1,
		AfterID: id[tenant.EntryID]("second"), Limit: 1,
	}}, "other"},
	{waitlistdb.ListUnfilled, args{now, 9}, ""},
	{waitlistdb.ListWindows, args{"member", "service", "location"}, ""},
	{waitlistdb.ListRulesVersions, args{waitlistdb.RulesVersionQuery{
		Limit: 9,
	}},
		"{Level=TENANT Scope=tenant Version=2 Actor=ana At=01T12:00} {Level=TENANT Scope=tenant " +
			"Settings={Enabled=true} Version=1 Actor=ana At=01T12:00}"},
}
