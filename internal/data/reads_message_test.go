package data

import (
	"time"

	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// opened is what sealed tokens are.
func opened(sealed []byte) ([]byte, error) { return append([]byte("opened "), sealed...), nil }

var messageReads = []read{

	// Messages, and the audit log.
	{messagedb.FindDelivery, args{"delivery", ""}, "delivery"},
	{messagedb.FindDelivery, args{"", "p2"}, "other"},
	{messagedb.FindDelivery, args{"", ""}, "none"},
	{messagedb.FindDeliveries, args{"third other"}, "third other"},
	{
		messagedb.ListAccessPeople, args{"third receiver"},
		"{Member=receiver Name=CY} {Member=third Name=Cy Owner=true}",
	},
	{
		messagedb.ListAccessPeople, args{"third"}, "{Member=third Name=Cy Owner=true}",
	},
	{
		messagedb.ListPeople, args{messagedb.PeopleIDs{Bookings: ids[tenant.BookingID]("booking")}, time.Hour},
		"{OfBookings={Member=member Session=session Booking=booking Booked=true StartsAt=02T08:00 " +
			"EndsAt=02T09:00 CheckInOpens=02T06:00}}",
	},
	{
		messagedb.ListPeople, args{messagedb.PeopleIDs{Bookings: ids[tenant.BookingID]("other")}, time.Hour},
		"{OfBookings={Member=other Session=session Booking=other StartsAt=02T08:00 EndsAt=02T09:00 " +
			"CheckInOpens=02T06:00}}",
	},
	{
		messagedb.ListPeople, args{messagedb.PeopleIDs{Bookings: ids[tenant.BookingID]("fifth")}, time.Hour},
		"{OfBookings={Member=member Session=third Booking=fifth StartsAt=02T07:00 EndsAt=02T08:00 " +
			"CheckInOpens=02T06:00 Payer=subscription}}",
	},
	{
		messagedb.ListPeople, args{messagedb.PeopleIDs{Sessions: ids[tenant.SessionID]("session")}, time.Hour},
		"{OfSessions={Member=member Session=session Booking=booking Booked=true StartsAt=02T08:00 " +
			"EndsAt=02T09:00 CheckInOpens=02T06:00}}",
	},
	{
		messagedb.ListPeople, args{messagedb.PeopleIDs{Entries: ids[tenant.EntryID]("waiting third")}, time.Hour},
		"{OfEntries={Member=member Session=session Entry=waiting StartsAt=02T08:00 EndsAt=02T09:00 " +
			"CheckInOpens=02T06:00} {Member=member Session=session Entry=third StartsAt=02T08:00 " +
			"EndsAt=02T09:00 CheckInOpens=02T06:00} OfWindows=}",
	},
	{
		messagedb.ListPeople, args{messagedb.PeopleIDs{Entries: ids[tenant.EntryID]("device")}, time.Hour},
		"{OfEntries={Member=member Session=third Entry=device StartsAt=02T07:00 EndsAt=02T08:00 " +
			"CheckInOpens=02T06:00} OfWindows=}",
	},
	{
		messagedb.ListPeople,
		args{messagedb.PeopleIDs{Payers: []tenant.UUID{uuid("subscription"), uuid("other")}}, time.Hour},
		"{OfPayers={Member=member Payer=subscription}}",
	},
	{
		messagedb.ListPeople, args{messagedb.PeopleIDs{Staff: true}, time.Hour},
		"{OfStaff={Member=third}}",
	},
	{messagedb.ListPeople, args{messagedb.PeopleIDs{}, time.Hour}, "no statement"},
	{
		messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Limit: 20}},
		"third other fourth delivery fifth screen display account code key line item batch",
	},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Limit: 2}}, "third other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{
		Member: id[tenant.MemberID]("third"), Limit: 9,
	}}, "third batch"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{
		Booking: id[tenant.BookingID]("booking"), Limit: 9,
	}}, "other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Offer: id[tenant.OfferID]("offer"), Limit: 9}}, "other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{
		Statuses: []delivery.Status{delivery.Failed}, Limit: 9,
	}}, "other key item"},
	{
		messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Channel: delivery.SMS, Limit: 9}},
		"other fourth account item batch",
	},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Topic: "MOVED", Limit: 9}}, "other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{From: now.Add(time.Hour), Limit: 9}}, "third other"},
	{
		messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Until: now.Add(time.Hour), Limit: 20}},
		"fourth delivery fifth screen display account code key line item batch",
	},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Outbox: true, Limit: 9}}, "other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{
		BeforeAt: now.Add(time.Hour), BeforeID: id[tenant.DeliveryID]("third"), Limit: 20,
	}}, "other fourth delivery fifth screen display account code key line item batch"},
	{messagedb.CountTests, args{"third", now}, "1"},
	{messagedb.CountTests, args{"third", now.Add(2 * time.Hour)}, "0"},
	{messagedb.CountTests, args{"third", now.Add(-6 * time.Hour)}, "1"},
	{messagedb.CountTests, args{"member", now.Add(2 * time.Hour)}, "0"},
	{messagedb.ListDueNotices, args{now, 9}, "round fifth other notice"},
	{messagedb.ListDueNotices, args{now.Add(-2 * time.Hour), 9}, "round"},
	{messagedb.ListDueNotices, args{now, 1}, "round"},
	{messagedb.ListDueNotices, args{now.Add(-time.Second), 9}, "round fifth other"},
	{messagedb.FindNextNotice, nil, "01T10:00"},
	{messagedb.ListNotices, args{"notice other third", now}, "notice  other QUEUED"},
	{messagedb.ListNotices, args{"notice other third", now.Add(-time.Second)}, "other QUEUED"},
	{messagedb.ListNotices, args{"fifth", now}, "fifth QUEUED"},
	{messagedb.FindNotice, args{"notice"}, "notice"},
	{messagedb.FindNotice, args{"third"}, "third"},
	{messagedb.FindFeed, args{[]byte("feed")}, "member"},
	{messagedb.FindFeed, args{[]byte("other")}, "{}"},
	{messagedb.ListMemberSchedule, args{"member", start.Add(-time.Hour), 9}, "fifth booking entry workout"},
	{messagedb.ListMemberSchedule, args{"member", start, 9}, "booking entry workout"},
	{messagedb.ListMemberSchedule, args{"member", start.Add(-time.Hour), 1}, "fifth"},
	{messagedb.ListSubjects, args{
		"booking", "waiting third", "other", "subscription",
	}, "booking=Rowing,Pier,Ana other=Later,Pier, subscription=Ten,, third=Rowing,Pier,Ana " +
		"waiting=Rowing,Pier,Ana"},
	{messagedb.ListSubjects, args{"", "waiting", "", ""}, "waiting=Rowing,Pier,Ana"},
	{messagedb.ListTemplates, args{[]notify.Topic{"MOVED"}}, ""},
	{messagedb.ListTemplates, args{[]notify.Topic{"BOOKED"}},
		"{Topic=BOOKED Channel=SMS Locale=en Body=Hello Version=1 UpdatedAt=01T12:00}"},
	{messagedb.FindMemberQuiet, args{"member"}, "{HasFeed=true}"},
	{messagedb.FindMemberQuiet, args{"third"}, "{Hours={Start={Hour=21} End={Hour=6}} HasFeed=true}"},
	{messagedb.FindNotificationSettings, nil,
		"{QuietHours={Start={Hour=22} End={Hour=7}} PerDay=EMAIL=1 PUSH=1 SMS=1 Reminders= " +
			"PhoneCountries= Version=1 UpdatedAt=01T12:00}"},
	{messagedb.FindSenders, nil, "{Text=7365616c6564 Version=1 UpdatedAt=01T12:00 DomainCheckAt=01T12:00}"},
	{messagedb.FindDomainCheck, nil, "01T12:00"},
	{
		messagedb.ListMemberStops, args{"member"},
		"{Channel=EMAIL Address=ana@example.com Reason=UNSUBSCRIBED At=01T12:00} {Channel=SMS Address=+4413 " +
			"Reason=UNSUBSCRIBED At=01T12:00}",
	},
	{messagedb.ListMemberStops, args{"other"}, ""},
	{
		messagedb.ListMemberStops, args{"receiver"},
		"{Channel=EMAIL Address=zed@example.com Reason=BOUNCED At=01T12:00} {Channel=SMS Address=+4413 " +
			"Reason=UNSUBSCRIBED At=01T12:00}",
	},
	{func(b *pg.Batch, in tenant.TenantID, phone, email map[delivery.Channel]notify.Reason) {
		messagedb.ListStops(b, in, []*notify.Recipient{
			{Email: "foreign@example.com"}, {Phone: "+4413", Stopped: phone}, {Email: "ANA@example.com", Stopped: email},
		})
	}, nil, "SMS=UNSUBSCRIBED; EMAIL=UNSUBSCRIBED"},
	{messagedb.ListPreferences, args{"member third"}, "member={Topic=BOOKED Channel=SMS}=true"},
	{
		messagedb.ListRecipients, args{"member third", opened},
		"member={Member=member Known=true Name=Ana Phone=+4413 Email=ana@example.com Locale=it Zone={} " +
			"Stopped=EMAIL=UNSUBSCRIBED SMS=UNSUBSCRIBED Devices=other device Sent=} third={Member=third " +
			"Known=true Name=Cy Phone=+4413 Locale=de Zone={} Quiet={Start={Hour=21} End={Hour=6}} " +
			"Stopped=SMS=UNSUBSCRIBED Devices=notice third fourth Sent=}",
	},
	{messagedb.ListRecipients, args{"other"}, "unknown time zone Nowhere"},
	{messagedb.ListSent, args{"member", now.Add(time.Hour)}, ""},
	{messagedb.ListSent, args{"member third", now.Add(-time.Hour)}, "member=SMS=01T12:00 01T13:00"},
	{
		messagedb.ListSendingHours, args{now},
		"{Channel=EMAIL Country=AT Hour=01T12:00 Sent=1 Alarm=80} {Channel=SMS Country=AR Hour=01T12:00 Sent=1 " +
			"Alarm=80} {Channel=SMS Country=AT Hour=01T12:00 Sent=1 Alarm=80} {Channel=SMS Country=DE " +
			"Hour=01T13:00 Sent=5 Alarm=80}",
	},
	{
		messagedb.ListSendingHours, args{now.Add(-time.Hour)},
		"{Channel=EMAIL Hour=01T11:00 Sent=1 Alarm=80} {Channel=EMAIL Country=AT Hour=01T12:00 Sent=1 " +
			"Alarm=80} {Channel=SMS Country=AR Hour=01T12:00 Sent=1 Alarm=80} {Channel=SMS Country=AT " +
			"Hour=01T11:00 Sent=1 Alarm=80} {Channel=SMS Country=AT Hour=01T12:00 Sent=1 Alarm=80} " +
			"{Channel=SMS Country=DE Hour=01T13:00 Sent=5 Alarm=80}",
	},
	{messagedb.ListStandings, nil, "{Channel=SMS Level=1 Since=01T12:00 ReviewedAt=01T12:00}"},
	{messagedb.ListReviews, args{now.Add(24 * time.Hour)},
		"{Channel=EMAIL Since=02T12:00 ReviewedAt=02T12:00} {Channel=SMS Level=1 Since=01T12:00 " +
			"ReviewedAt=01T12:00}"},
	{messagedb.ListReviews, args{now.Add(24*time.Hour - time.Second)},
		"{Channel=EMAIL Since=02T11:59 ReviewedAt=02T11:59}"},
	{messagedb.ListConduct, args{[]notify.Standing{
		{Channel: delivery.SMS, Since: now}, {Channel: delivery.Email, Since: now},
	}, start}, "EMAIL={Bad=1} SMS={Sent=1 Bad=4}"},
	{
		messagedb.ListConduct, args{[]notify.Standing{{Channel: delivery.SMS, Since: now}}, now.Add(time.Hour)},
		"SMS={Bad=3}",
	},
	{
		messagedb.ListConduct, args{[]notify.Standing{{Channel: delivery.SMS, Since: now.Add(time.Second)}}, start},
		"SMS={Sent=1 Bad=1}",
	},
	{
		messagedb.ListConduct, args{[]notify.Standing{{Channel: delivery.SMS, Since: now.Add(-5 * time.Hour)}}, start},
		"SMS={Sent=4 Bad=5}",
	},
	{messagedb.CountTests, args{"third", now.Add(time.Hour)}, "0"},
	{messagedb.CountTests, args{"other", now}, "0"},
	{messagedb.ListSubjects, args{"", "", "audit", ""}, "audit=Dusk,dock,Cy"},
	{messagedb.ListSent, args{"member", now.Add(-time.Hour)}, "member=SMS=01T12:00 01T13:00"},
	{
		messagedb.ListRecipients, args{"third", opened},
		"third={Member=third Known=true Name=Cy Phone=+4413 Locale=de Zone={} Quiet={Start={Hour=21} " +
			"End={Hour=6}} Stopped=SMS=UNSUBSCRIBED Devices=notice third fourth Sent=}",
	},
	{messagedb.ListPreferences, args{"third"}, ""},
	{
		messagedb.ListAccessPeople, args{""},
		"{Member=third Name=Cy Owner=true}",
	},
}
