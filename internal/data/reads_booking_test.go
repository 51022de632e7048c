package data

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// winter has the clocks of the rows' locations.
var winter = []coredb.Clock{
	{Zone: "Europe/Vienna", Since: now.AddDate(0, 0, -9), Until: now.AddDate(0, 0, 9), Ahead: time.Hour},
	{Zone: "Europe/Paris", Since: now.AddDate(0, 0, -9), Until: now.AddDate(0, 0, 9), Ahead: time.Hour},
}

// always includes whatever time the rows' ids are from.
var always = bookingdb.Period{
	From: civil.Date{Year: 1971, Month: 1, Day: 1}, To: civil.Date{Year: 9999, Month: 1, Day: 1},
}

var bookingReads = []read{
	// Bookings and what pays for them.
	{bookingdb.FindBooking, args{"booking"}, "booking"},
	{bookingdb.FindBooking, args{"other"}, "other"},
	{bookingdb.FindBookingByRef, args{"ref3"}, "third"},
	{bookingdb.FindBookingByRef, args{""}, "none"},
	{bookingdb.FindLastBooking, args{"session", "other"}, "other"},
	{bookingdb.FindLastBooking, args{"session", "third"}, "seventh"},
	{bookingdb.ListSessionBookings, args{
		"session", []booking.Status{booking.Pending, booking.Confirmed, booking.Attended, booking.NoShow},
	}, "key booking other sixth"},
	{bookingdb.ListSessionBookings, args{"session", booking.Statuses()}, "key seventh booking other sixth"},
	{bookingdb.ListOpenBookings, args{"session third"}, "fifth key item booking line other sixth second code"},
	{bookingdb.ListDueHolds, args{"session", now.Add(time.Hour)}, "key other sixth"},
	{bookingdb.ListDueHolds, args{"session", now}, ""},
	{bookingdb.ListDueSessions, args{now.Add(time.Hour), 9}, "fifth session"},
	{bookingdb.ListDueSessions, args{now, 9}, "fifth"},
	{bookingdb.FindNextExpiry, nil, "01T12:00"},
	{bookingdb.FindNextOpening, nil, "none"},
	{bookingdb.ListOpenings, args{start, "", 9}, ""},
	{
		bookingdb.ListBookings,
		args{bookingdb.BookingQuery{Owner: id[tenant.MemberID]("member"), Limit: 9}},
		"fifth booking entry workout fourth",
	},
	{bookingdb.ListBookings, args{bookingdb.BookingQuery{Owner: id[tenant.MemberID]("member"), Limit: 1}}, "fifth"},
	{bookingdb.ListBookings, args{bookingdb.BookingQuery{
		BookingFilter: bookingdb.BookingFilter{From: start}, Owner: id[tenant.MemberID]("member"), Limit: 9,
	}}, "booking entry workout fourth"},
	{bookingdb.ListBookings, args{bookingdb.BookingQuery{
		BookingFilter: bookingdb.BookingFilter{Until: start}, Owner: id[tenant.MemberID]("member"), Limit: 9,
	}}, "fifth"},
	{
		bookingdb.ListBookings,
		args{bookingdb.BookingQuery{Owner: id[tenant.MemberID]("member"), EndsAfter: start, Limit: 9}},
		"booking entry workout fourth",
	},
	{
		bookingdb.ListBookings,
		args{
			bookingdb.BookingQuery{
				BookingFilter: bookingdb.BookingFilter{
					Statuses: []booking.Status{booking.NoShow},
				},
				Owner: id[tenant.MemberID]("member"),
				Limit: 9,
			},
		},
		"fourth",
	},
	{
		bookingdb.ListBookings,
		args{
			bookingdb.BookingQuery{
				BookingFilter: bookingdb.BookingFilter{
					Member: id[tenant.MemberID]("third"),
				},
				Owner: id[tenant.MemberID]("member"),
				Limit: 9,
			},
		},
		"",
	},
	{bookingdb.ListBookings, args{bookingdb.BookingQuery{
		Owner: id[tenant.MemberID]("member"), AfterStart: start, AfterSession: id[tenant.SessionID]("session"),
		AfterID: id[tenant.BookingID]("booking"), Limit: 9,
	}}, "entry workout fourth"},
	{bookingdb.ListBookings, args{bookingdb.BookingQuery{Account: "sa:1", Limit: 9}}, "fifth fourth"},
	{bookingdb.ListBookings, args{bookingdb.BookingQuery{Account: "ana", Limit: 9}}, ""},
	{bookingdb.ListBookings, args{bookingdb.BookingQuery{
		BookingFilter: bookingdb.BookingFilter{Session: id[tenant.SessionID]("session")}, Limit: 9,
	}}, "key seventh booking other sixth"},
	{bookingdb.ListBookings, args{bookingdb.BookingQuery{
		BookingFilter: bookingdb.BookingFilter{Member: id[tenant.MemberID]("member"), CreatedBy: "1"}, Limit: 9,
	}}, "fifth fourth"},
	{bookingdb.ListBookings, args{bookingdb.BookingQuery{
		BookingFilter: bookingdb.BookingFilter{From: now, Until: start.Add(48 * time.Hour)}, Limit: 20,
	}}, "fifth item line second code third key seventh booking other sixth entry workout fourth"},
	{bookingdb.ListBookings, args{bookingdb.BookingQuery{
		BookingFilter: bookingdb.BookingFilter{
			From: now, Until: start.Add(48 * time.Hour), Service: id[tenant.ServiceID]("other"),
		}, Limit: 20,
	}}, "fifth item line second code"},
	{bookingdb.ListBookings, args{bookingdb.BookingQuery{
		BookingFilter: bookingdb.BookingFilter{
			From: now, Until: start.Add(48 * time.Hour), Location: id[tenant.LocationID]("other"),
		}, Limit: 20,
	}}, "fifth item line second code entry workout"},
	{bookingdb.ListPastBookings, args{bookingdb.PastQuery{
		PastFilter: bookingdb.PastFilter{
			Member: id[tenant.MemberID]("member"), Statuses: booking.Statuses(), Until: start.Add(time.Hour),
		}, Limit: 9,
	}}, "booking fifth"},
	{bookingdb.ListPastBookings, args{bookingdb.PastQuery{PastFilter: pastOf("member"), Limit: 1}}, "fourth"},
	{bookingdb.ListPastBookings, args{bookingdb.PastQuery{
		PastFilter: bookingdb.PastFilter{
			Member: id[tenant.MemberID]("member"), Statuses: []booking.Status{booking.NoShow}, Until: start.Add(999 * time.Hour),
		}, Limit: 9,
	}}, "fourth"},
	{bookingdb.ListPastBookings, args{bookingdb.PastQuery{
		PastFilter: pastOf("member"), BeforeStart: start, BeforeID: id[tenant.BookingID]("booking"), Limit: 9,
	}}, "fifth"},
	{bookingdb.ListPastBookings, args{bookingdb.PastQuery{
		PastFilter: bookingdb.PastFilter{
			Member: id[tenant.MemberID]("member"), Statuses: booking.Statuses(), From: start, Until: start.Add(999 * time.Hour),
		}, Limit: 9,
	}}, "fourth workout entry booking"},
	{bookingdb.ListPastBookings, args{bookingdb.PastQuery{
		PastFilter: bookingdb.PastFilter{
			Member: id[tenant.MemberID]("member"), Statuses: booking.Statuses(), Until: start.Add(999 * time.Hour),
			Service: id[tenant.ServiceID]("service"),
		}, Limit: 9,
	}}, "fourth workout entry booking"},
	{bookingdb.ListPastBookings, args{bookingdb.PastQuery{
		PastFilter: bookingdb.PastFilter{
			Member: id[tenant.MemberID]("member"), Statuses: booking.Statuses(), Until: start.Add(999 * time.Hour),
			Location: id[tenant.LocationID]("other"),
		}, Limit: 9,
	}}, "workout entry fifth"},
	{bookingdb.ListPastBookings, args{bookingdb.PastQuery{
		PastFilter: bookingdb.PastFilter{
			Member: id[tenant.MemberID]("member"), Statuses: booking.Statuses(), Until: start.Add(999 * time.Hour),
			Service: id[tenant.ServiceID]("service"), Location: id[tenant.LocationID]("other"),
		}, Limit: 9,
	}}, "workout entry"},
	{bookingdb.CountAttendance, args{bookingdb.PastFilter{
		Member: id[tenant.MemberID]("member"), Statuses: booking.Statuses(), Until: start.Add(24*time.Hour + time.Second),
	}}, "{Attended=1 NoShows=1}"},
	{bookingdb.CountAttendance, args{bookingdb.PastFilter{
		Member: id[tenant.MemberID]("member"), Statuses: booking.Statuses(), Until: start.Add(24 * time.Hour),
	}}, "{Attended=1}"},
	{bookingdb.CountAttendance, args{bookingdb.PastFilter{
		Member: id[tenant.MemberID]("third"), Statuses: booking.Statuses(), Until: start.Add(time.Second),
	}}, "{LateCancelled=1}"},
	{bookingdb.CountAttendance, args{bookingdb.PastFilter{
		Member: id[tenant.MemberID]("member"), Statuses: []booking.Status{booking.NoShow}, Until: start.Add(999 * time.Hour),
	}}, "{NoShows=1}"},
	{bookingdb.CountAttendance, args{bookingdb.PastFilter{
		Member: id[tenant.MemberID]("member"), Statuses: booking.Statuses(), From: start, Until: start.Add(999 * time.Hour),
	}}, "{NoShows=1}"},
	{bookingdb.CountAttendance, args{bookingdb.PastFilter{
		Member: id[tenant.MemberID]("member"), Statuses: booking.Statuses(), Until: start.Add(999 * time.Hour),
		Service: id[tenant.ServiceID]("other"),
	}}, "{Attended=1}"},
	{bookingdb.CountAttendance, args{bookingdb.PastFilter{
		Member: id[tenant.MemberID]("member"), Statuses: booking.Statuses(), Until: start.Add(999 * time.Hour),
		Location: id[tenant.LocationID]("location"),
	}}, "{NoShows=1}"},
	{bookingdb.ListNoShows, args{"session", 9}, "booking"},
	{bookingdb.FindDisplay, args{"session"}, "{Location=Pier Coach=Ana Expected=1}"},
	{bookingdb.FindDisplayLink, args{"display"}, "display"},
	{bookingdb.FindDisplayLink, args{"other"}, "other"},
	{bookingdb.ListUpcoming, args{"fifth", start.Add(-time.Hour), 9}, "{Title=Night StartsAt=02T20:00}"},
	{bookingdb.ListDisplayLinks, args{"session", 9}, "other notice display"},
	{bookingdb.ListDisplayLinks, args{"session", 1}, "other"},
	{bookingdb.CountDisplayLinks, args{"session"}, "3"},
	{bookingdb.CountDisplayLinks, args{"other"}, "0"},
	{bookingdb.HasOldDisplayLinks, args{start.Add(time.Hour)}, "false"},
	{bookingdb.HasOldDisplayLinks, args{start.Add(time.Hour + time.Microsecond)}, "true"},
	{bookingdb.ListUpcoming, args{"third", start, 9},
		"{Title=Noon Coach=Cy StartsAt=02T10:00} {Title=Dawn StartsAt=02T11:00} {Title=Dusk Coach=Cy " +
			"StartsAt=02T11:00}"},
	{bookingdb.ListUpcoming, args{"session", start.Add(-time.Hour), 9}, "{Title=Next StartsAt=02T09:00}"},
	{bookingdb.ListUpcoming, args{"session", start.Add(time.Hour), 9}, ""},
	{bookingdb.ListUpcoming, args{"fifth", start.Add(-time.Hour), 1}, "{Title=Night StartsAt=02T20:00}"},
	{bookingdb.ListNoShows, args{"third", 9}, "second code"},
	{bookingdb.ListNoShows, args{"third", 1}, "second"},
	{bookingdb.ListArrivals, args{"third", 9},
		"{Name=Ugo Party=1 At=02T08:01} {Name=Quinn Party=1 At=02T08:00} {Name=Ana Party=1 At=02T08:00}"},
	{bookingdb.ListMoving, args{"other third"}, "fourth:false"},
	{bookingdb.ListPayments, args{"booking"}, "entry other"},
	{bookingdb.ListCreditLines, args{"subscription", bookingdb.LineQuery{Limit: 9}}, "other entry"},
	{bookingdb.ListCreditLines, args{"subscription", bookingdb.LineQuery{Before: 2, Limit: 9}}, "entry"},
	{bookingdb.ListCreditLines, args{"subscription", bookingdb.LineQuery{Limit: 1}}, "other"},
	{bookingdb.ListImportSites, nil, "fifth location"},
	{bookingdb.ListImportSlots, args{[]time.Time{start}}, "session"},
	{
		bookingdb.ListPlaces, args{"session"},
		"{Session=session Member=member} {Session=session Member=other} {Session=session Guest=pat} " +
			"{Session=session Guest=una} {Session=session Member=member} {Session=session Member=receiver} " +
			"{Session=session Member=third}",
	},
	{
		bookingdb.ListOpenSubscriptions, args{"member third"},
		"key:Ten:0:0 other:five:0:0 subscription:Ten:0:0 third:Day:0:0",
	},
	{bookingdb.ListBusyMembers, args{"member third", now}, "{Member=member Span={Start=02T08:00 End=02T09:00}}"},
	{bookingdb.ListSeatsTaken, args{"session"}, "{Session=session}"},
	{bookingdb.ListLedgerSums, args{"subscription other third"}, "4 0 0"},
	{
		bookingdb.ListHeldSubscriptions, args{"member third", "plan third"},
		"subscription:Ten:0:0 third:Day:0:0 key:Ten:0:0",
	},
	{bookingdb.ListItemReservations, args{
		"item", civil.Span{Start: start, End: start.Add(time.Hour)},
	}, "{Item=item Number=1 Span={Start=02T08:00 End=02T09:00}}"},
	{bookingdb.ListItemReservations, args{
		"item", civil.Span{Start: start.Add(time.Hour), End: start.Add(2 * time.Hour)},
	}, ""},
	{bookingdb.ListItemReservations, args{"other", civil.Span{Start: start, End: start.Add(time.Hour)}}, ""},
	{bookingdb.ListItemReservations, args{
		"other", civil.Span{Start: start, End: start.Add(time.Hour + time.Second)},
	}, "{Item=other Number=2 Span={Start=02T09:00 End=02T10:00}}"},
	{bookingdb.FindSlot, args{"session"}, "session"},
	{bookingdb.FindSlot, args{"other"}, "other"},
	{bookingdb.FindSlot, args{"fourth"}, "none"},
	{bookingdb.FindOwnSlot, args{"third"}, "third"},
	{bookingdb.FindOwnSlot, args{"fourth"}, ""},
	{bookingdb.FindSlotOf, args{"fifth"}, "third"},
	{bookingdb.FindSubscription, args{"subscription"}, "subscription:Ten:0:0"},
	{bookingdb.FindSubscription, args{"third"}, "third:Day:0:0"},
	{bookingdb.FindSubscriptions, args{"third"}, "third:Day:0:0"},
	{bookingdb.ListSubscriptions, args{bookingdb.SubscriptionQuery{
		Statuses: credit.OpenStatuses(), Now: now, Limit: 9,
	}}, "third:Day:0:0 subscription:Ten:0:0 key:Ten:0:0"},
	{bookingdb.ListMemberSubscriptions, args{"member"}, "key:Ten:0:0 other:five:0:0 subscription:Ten:0:0 fourth:Ten:0:0"},
	{bookingdb.ListDueSubscriptions, args{now, "", 9}, "other third"},
	{bookingdb.ListDueSubscriptions, args{now, "", 1}, "other"},
	{bookingdb.ListDueSubscriptions, args{now.Add(-time.Second), "", 9}, ""},
	{bookingdb.FindBookingSubscription, args{"other"}, "other:five:0:0"},
	{bookingdb.FindBookingSubscription, args{"booking"}, "none"},
	{bookingdb.FindPayers, args{"member", ""}, "key::0:0; subscription::0:0"},
	{bookingdb.FindPayers, args{"member", "other"}, "other::0:0"},
	{bookingdb.FindPayers, args{"third", "other"}, ""},
	{
		bookingdb.FindUsage, args{bookingdb.Usage{Subscription: id[tenant.SubscriptionID]("subscription"), On: day}},
		"1",
	},
	{bookingdb.FindUsage, args{bookingdb.Usage{
		Subscription: id[tenant.SubscriptionID]("subscription"), Week: true, On: day,
	}}, "3"},
	{bookingdb.FindBookingMember, args{"member"}, "member"},
	{bookingdb.ListLines, args{"booking sixth"},
		"{Booking=booking Line=booking} {Booking=booking Line=line} {Booking=booking Line=line} {Booking=sixth " +
			"Line=fifth}"},
	{bookingdb.ListLines, args{"booking"},
		"{Booking=booking Line=booking} {Booking=booking Line=line} {Booking=booking Line=line}"},
	{bookingdb.ListBusy, args{bookingdb.SessionMember{
		Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("member"),
	}}, "{Start=02T08:00 End=02T09:00}"},
	{bookingdb.ListBusy, args{bookingdb.SessionMember{
		Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("receiver"),
	}}, ""},
	{bookingdb.ListPayers, args{
		bookingdb.SessionMember{Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("member")}, "",
	}, "key:Ten:0:0 subscription:Ten:1:3"},
	{bookingdb.FindActiveIDs, args{bookingdb.SessionMember{
		Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("third"),
	}}, "{Entry=other}"},
	{bookingdb.FindActiveIDs, args{bookingdb.SessionMember{
		Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("member"),
	}}, "{Booking=booking Entry=waiting}"},
	{bookingdb.FindSessionMember, args{"booking"},
		"{Session=session Member=member}; {Location=location Service=service Date=2026-03-02}"},
	{
		bookingdb.FindMemberFacts, args{"member", civil.Span{Start: now, End: now}},
		"{Member=member Subscriptions=key:Ten:0:0 other:five:0:0 subscription:Ten:0:0 fourth:Ten:0:0 " +
			"Usage={Subscription=subscription On=2026-03-02 Used=1} {Subscription=subscription Week=true " +
			"On=2026-03-02 Used=3} Bookings=fifth booking entry workout Entries=waiting fourth device " +
			"device Offers={Session=third Offer=unit Seats=1 Until=02T08:00} " +
			"{Session=session Offer=offer Seats=1 Until=02T08:00} " +
			"{Session=session Offer=second Seats=1 Until=02T08:00 Shared=true}}",
	},
	{bookingdb.FindMemberFacts, args{"member", civil.Span{
		Start: start.Add(7 * 24 * time.Hour), End: start.Add(7 * 24 * time.Hour),
	}},
		"{Member=member Subscriptions=key:Ten:0:0 other:five:0:0 subscription:Ten:0:0 fourth:Ten:0:0 " +
			"Usage={Subscription=subscription On=2026-03-02 Used=1} {Subscription=subscription Week=true " +
			"On=2026-03-02 Used=3} {Subscription=subscription On=2026-03-03 Used=2} Bookings=booking entry workout " +
			"Entries=waiting fourth device " +
			"device Offers={Session=third Offer=unit Seats=1 Until=02T08:00} " +
			"{Session=session Offer=offer Seats=1 Until=02T08:00} " +
			"{Session=session Offer=second Seats=1 Until=02T08:00 Shared=true}}"},
	{bookingdb.FindMemberFacts, args{"member", civil.Span{
		Start: start.Add(8 * 24 * time.Hour), End: start.Add(8 * 24 * time.Hour),
	}},
		"{Member=member Subscriptions=key:Ten:0:0 other:five:0:0 subscription:Ten:0:0 fourth:Ten:0:0 " +
			"Usage={Subscription=subscription On=2026-03-03 Used=2} Bookings= Entries=waiting fourth device " +
			"device Offers={Session=third Offer=unit Seats=1 Until=02T08:00} " +
			"{Session=session Offer=offer Seats=1 Until=02T08:00} " +
			"{Session=session Offer=second Seats=1 Until=02T08:00 Shared=true}}"},
	{
		bookingdb.FindMemberFacts, args{"member", civil.Span{Start: start, End: start.Add(time.Hour)}},
		"{Member=member Subscriptions=key:Ten:0:0 other:five:0:0 subscription:Ten:0:0 fourth:Ten:0:0 " +
			"Usage={Subscription=subscription On=2026-03-02 Used=1} {Subscription=subscription Week=true " +
			"On=2026-03-02 Used=3} {Subscription=subscription On=2026-03-03 Used=2} Bookings=fifth booking " +
			"entry workout Entries=waiting fourth device " +
			"device Offers={Session=third Offer=unit Seats=1 Until=02T08:00} " +
			"{Session=session Offer=offer Seats=1 Until=02T08:00} " +
			"{Session=session Offer=second Seats=1 Until=02T08:00 Shared=true}}",
	},
	{
		bookingdb.FindMemberFacts, args{"third", civil.Span{Start: start, End: start.Add(time.Hour)}},
		"{Member=third Subscriptions=third:Day:0:0 Usage={Subscription=third On=2026-03-02 Used=4} " +
			"{Subscription=third Week=true On=2026-03-02 Used=4} Bookings=third Entries=other other " +
			"other Offers={Session=other Offer=other Seats=1 Until=02T07:00}}",
	},
	{
		bookingdb.CountUtilization, args{bookingdb.Period{From: day, To: day}, bookingdb.ByWeekdayHour, winter},
		"{1 8 1 0 8 5} {1 9 1 0 8 1} {1 10 1 0 8 0} {1 11 2 0 16 0} {1 12 2 0 16 2} {1 21 0 1 0 0} {1 " +
			"22 1 0 8 0}",
	},
	{
		bookingdb.CountUtilization, args{bookingdb.Period{From: day, To: day}, bookingdb.ByService, []coredb.Clock(nil)},
		"{other 0 0 1 0 8 5} {service 0 0 7 1 56 3}",
	},
	{
		bookingdb.CountUtilization, args{bookingdb.Period{From: day, To: day}, bookingdb.ByResource, []coredb.Clock(nil)},
		"{0 0 6 1 48 6} {third 0 0 1 0 8 1} {resource 0 0 1 0 8 1}",
	},
	{
		bookingdb.CountUtilization, args{bookingdb.Period{From: day, To: day}, bookingdb.ByLocation, []coredb.Clock(nil)},
		"{other 0 0 4 0 32 7} {location 0 0 4 1 32 1}",
	},
	{bookingdb.ListZones, args{bookingdb.Period{
		From: day, To: day, Locations: []tenant.LocationID{id[tenant.LocationID]("other")},
	}}, "Europe/Paris"},
	{bookingdb.FindSubscriptions, args{"third other"}, "other:five:0:0 third:Day:0:0"},
	{bookingdb.FindSessionMember, args{"fifth"}, "{Session=third Member=member}; none"},
	{
		bookingdb.CountAttendanceDaily, args{bookingdb.Period{From: day, To: day}},
		"{Date=2026-03-02 Sessions=9 SessionsCancelled=1 Capacity=64 Booked=8 BookedLimited=8 Attended=3 " +
			"Waitlisted=6}",
	},
	{
		bookingdb.CountAttendanceDaily, args{bookingdb.Period{From: day, To: day.AddDays(1)}},
		"{Date=2026-03-02 Sessions=9 SessionsCancelled=1 Capacity=64 Booked=8 BookedLimited=8 Attended=3 " +
			"Waitlisted=6} {Date=2026-03-03 Sessions=1 Capacity=8}",
	},
	{
		bookingdb.FindMemberFacts, args{"member", civil.Span{Start: start.Add(-time.Hour), End: start.Add(9 * time.Hour)}},
		"{Member=member Subscriptions=key:Ten:0:0 other:five:0:0 subscription:Ten:0:0 fourth:Ten:0:0 " +
			"Usage={Subscription=subscription On=2026-03-02 Used=1} {Subscription=subscription Week=true " +
			"On=2026-03-02 Used=3} {Subscription=subscription On=2026-03-03 Used=2} Bookings=fifth booking " +
			"entry workout Entries=waiting fourth device " +
			"device Offers={Session=third Offer=unit Seats=1 Until=02T08:00} " +
			"{Session=session Offer=offer Seats=1 Until=02T08:00} " +
			"{Session=session Offer=second Seats=1 Until=02T08:00 Shared=true}}",
	},
	{bookingdb.ListZones, args{bookingdb.Period{From: day, To: day}}, "Europe/Paris Europe/Vienna"},
	{bookingdb.CountMade, args{always, winter}, "{Date=2026-03-01 Channel=ONLINE Bookings=8 Seats=8}"},
	{func(b *pg.Batch, in tenant.TenantID, into *[]credit.Subscription) {
		for _, member := range []string{"third", "member"} {
			bookingdb.ListPayers(b, in, bookingdb.SessionMember{
				Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID](member),
			}, tenant.SubscriptionID{}, into)
		}
	}, nil, "key:Ten:0:0 subscription:Ten:1:3 third:Day:4:4"},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: start, Until: start.Add(2 * time.Hour), StartsFrom: now, Mark: true, After: 3 * time.Hour,
		Closes: time.Hour, Limit: 9,
	}}, "third"},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: now, Until: start.Add(48 * time.Hour), StartsFrom: now, Mark: true, Closes: time.Hour, Limit: 9,
	}}, "third"},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: start.Add(-50 * time.Minute), Until: start.Add(-50 * time.Minute), StartsFrom: now, Mark: true,
		Closes: time.Hour, AfterStart: 10 * time.Minute, Limit: 9,
	}}, "third"},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: now, Until: start.Add(-50*time.Minute - time.Second), StartsFrom: now, Mark: true, Closes: time.Hour,
		AfterStart: 10 * time.Minute, Limit: 9,
	}}, ""},
	{bookingdb.ListUpcoming, args{"audit", start.Add(time.Hour), 9}, "{Title=Dawn StartsAt=02T11:00}"},
	{bookingdb.ListUpcoming, args{"third", start, 2},
		"{Title=Noon Coach=Cy StartsAt=02T10:00} {Title=Dawn StartsAt=02T11:00}"},
	{bookingdb.ListBusy, args{bookingdb.SessionMember{
		Session: id[tenant.SessionID]("third"), Member: id[tenant.MemberID]("member"),
	}}, ""},
	{bookingdb.ListBusy, args{bookingdb.SessionMember{
		Session: id[tenant.SessionID]("waiting"), Member: id[tenant.MemberID]("member"),
	}}, ""},
	{bookingdb.CountMade, args{always, []coredb.Clock(nil)}, ""},
	{bookingdb.CountMade, args{bookingdb.Period{
		From: always.From, To: always.To, Services: []tenant.ServiceID{id[tenant.ServiceID]("other")},
	}, winter}, "{Date=2026-03-01 Channel=ONLINE Bookings=5 Seats=5}"},
	{bookingdb.CountMade, args{bookingdb.Period{
		From: always.From, To: always.To, Locations: []tenant.LocationID{id[tenant.LocationID]("other")},
	}, winter}, "{Date=2026-03-01 Channel=ONLINE Bookings=7 Seats=7}"},
	{bookingdb.CountMade, args{bookingdb.Period{From: always.From, To: day.AddDays(-2)}, winter}, ""},
	{bookingdb.CountMade, args{bookingdb.Period{From: day, To: always.To}, winter}, ""},
	{
		bookingdb.CountUtilization, args{bookingdb.Period{From: day, To: day.AddDays(2)}, bookingdb.ByWeekdayHour, winter},
		"{1 8 1 0 8 5} {1 9 1 0 8 1} {1 10 1 0 8 0} {1 11 2 0 16 0} {1 12 2 0 16 2} {1 21 0 1 0 0} {1 22 1 0 8 0} " +
			"{2 9 1 0 8 0}",
	},
	{bookingdb.CountUtilization, args{bookingdb.Period{
		From: day, To: day, Services: []tenant.ServiceID{id[tenant.ServiceID]("other")},
	}, bookingdb.ByWeekdayHour, winter}, "{1 8 1 0 8 5}"},
	{bookingdb.CountUtilization, args{bookingdb.Period{
		From: day, To: day, Services: []tenant.ServiceID{id[tenant.ServiceID]("other")},
	}, bookingdb.ByService, []coredb.Clock(nil)}, "{other 0 0 1 0 8 5}"},
	{bookingdb.CountUtilization, args{bookingdb.Period{
		From: day, To: day, Services: []tenant.ServiceID{id[tenant.ServiceID]("other")},
	}, bookingdb.ByResource, []coredb.Clock(nil)}, "{0 0 1 0 8 5}"},
	{bookingdb.CountUtilization, args{bookingdb.Period{
		From: day, To: day, Services: []tenant.ServiceID{id[tenant.ServiceID]("other")},
	}, bookingdb.ByLocation, []coredb.Clock(nil)}, "{other 0 0 1 0 8 5}"},
	{bookingdb.CountUtilization, args{bookingdb.Period{
		From: day, To: day, Locations: []tenant.LocationID{id[tenant.LocationID]("other")},
	}, bookingdb.ByLocation, []coredb.Clock(nil)}, "{other 0 0 4 0 32 7}"},
	{bookingdb.CountAttendanceDaily, args{bookingdb.Period{
		From: day, To: day, Services: []tenant.ServiceID{id[tenant.ServiceID]("other")},
	}}, "{Date=2026-03-02 Sessions=1 Capacity=8 Booked=5 BookedLimited=5 Attended=3}"},
	{bookingdb.CountAttendanceDaily, args{bookingdb.Period{
		From: day, To: day, Services: []tenant.ServiceID{id[tenant.ServiceID]("third")},
	}}, ""},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: start, Until: start.Add(2 * time.Hour), StartsFrom: now, Mark: true, After: 3 * time.Hour,
		Closes: time.Hour, AfterID: id[tenant.SessionID]("fourth"), Limit: 9,
	}}, "third"},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: start, Until: start.Add(2 * time.Hour), StartsFrom: now, Mark: true, After: 3 * time.Hour,
		Closes: time.Hour, AfterID: id[tenant.SessionID]("third"), Limit: 9,
	}}, ""},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: start, Until: start.Add(2 * time.Hour), StartsFrom: start.Add(time.Hour), Mark: true, After: 3 * time.Hour,
		Closes: time.Hour, Limit: 9,
	}}, ""},
	{bookingdb.ListDueSessions, args{now.Add(time.Hour), 1}, "fifth"},
	{bookingdb.ListArrivals, args{"third", 1}, "{Name=Ugo Party=1 At=02T08:01}"},
	{bookingdb.ListArrivals, args{"session", 9}, ""},
	{bookingdb.ListMoving, args{"session"}, "booking:true other:true"},
	{bookingdb.ListDueSubscriptions, args{now, "other", 9}, "third"},
	{bookingdb.FindDisplay, args{"other"}, "{Location=Pier}"},
	{bookingdb.FindDisplay, args{"device"}, "{Location=dock Expected=1}"},
	{bookingdb.ListCreditLines, args{"other", bookingdb.LineQuery{Limit: 9}}, ""},
	{bookingdb.ListPayments, args{"other"}, ""},
	{bookingdb.ListDisplayLinks, args{"other", 9}, ""},
	{bookingdb.ListUpcoming, args{"code", start, 9}, ""},
	{bookingdb.ListBusy, args{bookingdb.SessionMember{
		Session: id[tenant.SessionID]("fifth"), Member: id[tenant.MemberID]("member"),
	}}, ""},
	{bookingdb.FindMemberFacts, args{"member", civil.Span{
		Start: start.Add(-7 * 24 * time.Hour), End: start.Add(-7 * 24 * time.Hour),
	}},
		"{Member=member Subscriptions=key:Ten:0:0 other:five:0:0 subscription:Ten:0:0 fourth:Ten:0:0 Usage= " +
			"Bookings=fifth Entries=waiting fourth device " +
			"device Offers={Session=third Offer=unit Seats=1 Until=02T08:00} " +
			"{Session=session Offer=offer Seats=1 Until=02T08:00} " +
			"{Session=session Offer=second Seats=1 Until=02T08:00 Shared=true}}"},
	{bookingdb.CountMade, args{always, clocks}, "{Date=2026-03-02 Channel=ONLINE Bookings=1 Seats=1}"},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: start, Until: start.Add(2 * time.Hour), StartsFrom: start.Add(-time.Hour), Mark: true, After: 3 * time.Hour,
		Closes: time.Hour, Limit: 9,
	}}, "third"},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: start, Until: start.Add(2 * time.Hour), StartsFrom: now, Mark: true, Closes: 24 * time.Hour, Limit: 9,
	}}, ""},
}

// pastOf selects all bookings of a member.
func pastOf(member string) bookingdb.PastFilter {
	return bookingdb.PastFilter{
		Member: id[tenant.MemberID](member), Statuses: booking.Statuses(), Until: start.Add(999 * time.Hour),
	}
}

// changedBookingReads are reads of the rows that more.sql changes in a tenant.
var changedBookingReads = []read{
	{bookingdb.CountAttendance, args{bookingdb.PastFilter{
		Member: id[tenant.MemberID]("member"), Statuses: booking.Statuses(), Until: start.Add(24*time.Hour + time.Second),
	}}, "{Attended=1}"},
	{
		bookingdb.CountAttendanceDaily, args{bookingdb.Period{From: day, To: day.AddDays(1)}},
		"{Date=2026-03-02 Sessions=8 SessionsCancelled=1 Capacity=56 Booked=7 BookedLimited=6 Attended=2 " +
			"Cancelled=2 Waitlisted=6 Promoted=1} {Date=2026-03-03 Sessions=2 Capacity=16}",
	},
	{
		bookingdb.CountAttendanceDaily, args{bookingdb.Period{From: day.AddDays(1), To: day.AddDays(1)}},
		"{Date=2026-03-03 Sessions=2 Capacity=16}",
	},
	{
		bookingdb.CountUtilization, args{bookingdb.Period{From: day, To: day}, bookingdb.ByService, []coredb.Clock(nil)},
		"{service 0 0 6 1 48 3} {other 0 0 1 0 8 3}",
	},
	{
		bookingdb.CountUtilization, args{bookingdb.Period{From: day, To: day}, bookingdb.ByResource, []coredb.Clock(nil)},
		"{0 0 4 1 32 3} {fifth 0 0 1 0 8 1} {third 0 0 1 0 8 1} {resource 0 0 1 0 8 1}",
	},
	{
		bookingdb.CountUtilization, args{bookingdb.Period{From: day, To: day}, bookingdb.ByLocation, []coredb.Clock(nil)},
		"{location 0 0 3 1 24 1} {other 0 0 4 0 32 5}",
	},
	{
		bookingdb.CountMade, args{bookingdb.Period{From: day.AddDays(-1), To: day.AddDays(-1)}, winter},
		"{Date=2026-03-01 Channel=ONLINE Bookings=1 Seats=1}",
	},
	{bookingdb.FindNextExpiry, nil, "01T12:00"},
	{bookingdb.FindNextOpening, nil, "31T11:00"},
	{bookingdb.ListOpenings, args{start, "", 9}, "transfer device"},
	{bookingdb.ListOpenings, args{start, "transfer", 9}, "device"},
	{bookingdb.ListOpenings, args{start, "", 1}, "transfer"},
	{bookingdb.ListOpenings, args{now.Add(-29 * 24 * time.Hour), "", 9}, "device"},
	{bookingdb.FindSlotOf, args{"code"}, "none"},
	{bookingdb.FindSessionMember, args{"workout"}, "{Session=audit Member=member}; none"},
	{bookingdb.ListBusy, args{bookingdb.SessionMember{
		Session: id[tenant.SessionID]("other"), Member: id[tenant.MemberID]("member"),
	}}, ""},
	{bookingdb.ListDueSubscriptions, args{now, "", 9}, "other third"},
	{bookingdb.ListLines, args{"booking sixth"}, "{Booking=sixth Line=fifth}"},
	{bookingdb.ListMoving, args{"other"}, "fourth:false"},
	{bookingdb.ListNoShows, args{"third", 9}, "second"},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: start, Until: start.Add(5 * time.Hour), StartsFrom: now, After: 3 * time.Hour, Closes: time.Hour, Limit: 9,
	}}, "device audit third"},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: start, Until: start.Add(5 * time.Hour), StartsFrom: now, After: 3 * time.Hour, Closes: time.Hour, Limit: 1,
	}}, "device"},
	{bookingdb.ListPayers, args{
		bookingdb.SessionMember{Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("member")}, "",
	}, "key:Ten:0:0 subscription:Ten:1:3"},
}
