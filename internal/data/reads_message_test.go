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
		messagedb.ListAccessParties, args{"third receiver"},
		"//////receiver/////false/01T00:00/01T00:00/false/01T00:00/00000000-0000-0000-0000-000000000000/0/0 " +
			"third/////false/01T00:00/01T00:00/false/01T00:00/00000000-0000-0000-0000-000000000000/0/0/receiver=false " +
			"third=true/receiver=CY third=Cy",
	},
	{
		messagedb.ListAccessParties, args{"third"}, "//////third/////false/01T00:00/01T00:00/false/01T00:00/" +
			"00000000-0000-0000-0000-000000000000/0/0/third=true/third=Cy",
	},
	{
		messagedb.ListParties, args{"booking", "", "", "", false, time.Hour},
		"member/session/booking///true/02T08:00/02T09:00/false/02T06:00/00000000-0000-0000-0000-000000000000/0/0///////" +
			"/",
	},
	{
		messagedb.ListParties, args{"other", "", "", "", false, time.Hour},
		"other/session/other///false/02T08:00/02T09:00/false/02T06:00/00000000-0000-0000-0000-000000000000/0/0////////",
	},
	{
		messagedb.ListParties, args{"fifth", "", "", "", false, time.Hour},
		"member/third/fifth///false/02T07:00/02T08:00/false/02T06:00/subscription/0/0////////",
	},
	{
		messagedb.ListParties, args{"", "session", "", "", false, time.Hour},
		"/member/session/booking///true/02T08:00/02T09:00/false/02T06:00/00000000-0000-0000-0000-000000000000/0/0///////",
	},
	{
		messagedb.ListParties, args{"", "", "waiting third", "", false, time.Hour},
		"//member/session//waiting//false/02T08:00/02T09:00/false/02T06:00/00000000-0000-0000-0000-000000000000/0/0 mem" +
			"ber/session//third//false/02T08:00/02T09:00/false/02T06:00/00000000-0000-0000-0000-000000000000/0/0//////",
	},
	{
		messagedb.ListParties, args{"", "", "device", "", false, time.Hour},
		"//member/third//device//false/02T07:00/02T08:00/false/02T06:00/00000000-0000-0000-0000-000000000000/0/0//////",
	},
	{
		messagedb.ListParties, args{"", "", "", []tenant.UUID{uuid("subscription"), uuid("other")}, false, time.Hour},
		"////member/////false/01T00:00/01T00:00/false/01T00:00/subscription/0/0////",
	},
	{
		messagedb.ListParties, args{"", "", "", "", true, time.Hour},
		"/////third/////false/01T00:00/01T00:00/false/01T00:00/00000000-0000-0000-0000-000000000000/0/0///",
	},
	{messagedb.ListParties, args{"", "", "", "", false, time.Hour}, "no statement"},
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
	{messagedb.FindFeed, args{[]byte("other")}, ""},
	{messagedb.ListMemberSchedule, args{"member", start.Add(-time.Hour), 9}, "fifth booking entry workout"},
	{messagedb.ListMemberSchedule, args{"member", start, 9}, "booking entry workout"},
	{messagedb.ListMemberSchedule, args{"member", start.Add(-time.Hour), 1}, "fifth"},
	{messagedb.ListSubjects, args{
		"booking", "waiting third", "other", "subscription",
	}, "booking=Rowing,Pier,Ana other=Later,Pier, subscription=Ten,, third=Rowing,Pier,Ana " +
		"waiting=Rowing,Pier,Ana"},
	{messagedb.ListSubjects, args{"", "waiting", "", ""}, "waiting=Rowing,Pier,Ana"},
	{messagedb.ListTemplates, args{[]notify.Topic{"MOVED"}}, ""},
	{messagedb.ListTemplates, args{[]notify.Topic{"BOOKED"}}, "BOOKED/SMS/en//Hello//1/01T12:00"},
	{messagedb.FindMemberQuiet, args{"member"}, "true"},
	{messagedb.FindMemberQuiet, args{"third"}, "21/0/0/6/0/0/true"},
	{messagedb.FindNotificationSettings, nil, "22/0/0/7/0/0/true/EMAIL=1 PUSH=1 SMS=1////0///1/01T12:00"},
	{messagedb.FindSenders, nil, "7365616c6564/1/01T12:00/01T12:00"},
	{messagedb.FindDomainCheck, nil, "01T12:00"},
	{
		messagedb.ListMemberStops, args{"member"},
		"EMAIL/ana@example.com/UNSUBSCRIBED/01T12:00 SMS/+4413/UNSUBSCRIBED/01T12:00",
	},
	{messagedb.ListMemberStops, args{"other"}, ""},
	{
		messagedb.ListMemberStops, args{"receiver"},
		"EMAIL/zed@example.com/BOUNCED/01T12:00 SMS/+4413/UNSUBSCRIBED/01T12:00",
	},
	{func(b *pg.Batch, in tenant.TenantID, phone, email map[delivery.Channel]notify.Reason) {
		messagedb.ListStops(b, in, []*notify.Recipient{
			{Email: "foreign@example.com"}, {Phone: "+4413", Stopped: phone}, {Email: "ANA@example.com", Stopped: email},
		})
	}, nil, "SMS=UNSUBSCRIBED; EMAIL=UNSUBSCRIBED"},
	{messagedb.ListPreferences, args{"member third"}, "member=BOOKED/SMS=true"},
	{
		messagedb.ListRecipients, args{"member third", opened},
		"member=member/true/Ana/+4413/ana@example.com/it///EMAIL=UNSUBSCRIBED SMS=UNSUBSCRIBED/other device// " +
			"third=third/true/Cy/+4413//de//21/0/0/6/0/0//SMS=UNSUBSCRIBED/notice third fourth//",
	},
	{messagedb.ListRecipients, args{"other"}, "unknown time zone Nowhere"},
	{messagedb.ListSent, args{"member", now.Add(time.Hour)}, ""},
	{messagedb.ListSent, args{"member third", now.Add(-time.Hour)}, "member=SMS=01T12:00 01T13:00"},
	{
		messagedb.ListSendingHours, args{now},
		"EMAIL/AT/01T12:00/1/0/80 SMS/AR/01T12:00/1/0/80 SMS/AT/01T12:00/1/0/80 SMS/DE/01T13:00/5/0/80",
	},
	{
		messagedb.ListSendingHours, args{now.Add(-time.Hour)},
		"EMAIL//01T11:00/1/0/80 EMAIL/AT/01T12:00/1/0/80 SMS/AR/01T12:00/1/0/80 SMS/AT/01T11:00/1/0/80 " +
			"SMS/AT/01T12:00/1/0/80 SMS/DE/01T13:00/5/0/80",
	},
	{messagedb.ListStandings, nil, "SMS/1/01T12:00/01T12:00"},
	{messagedb.ListReviews, args{now.Add(24 * time.Hour)}, "EMAIL/0/02T12:00/02T12:00 SMS/1/01T12:00/01T12:00"},
	{messagedb.ListReviews, args{now.Add(24*time.Hour - time.Second)}, "EMAIL/0/02T11:59/02T11:59"},
	{messagedb.ListConduct, args{[]notify.Standing{
		{Channel: delivery.SMS, Since: now}, {Channel: delivery.Email, Since: now},
	}, start}, "EMAIL=0/1 SMS=1/4"},
	{
		messagedb.ListConduct, args{[]notify.Standing{{Channel: delivery.SMS, Since: now}}, now.Add(time.Hour)}, "SMS=0/3",
	},
	{
		messagedb.ListConduct, args{[]notify.Standing{{Channel: delivery.SMS, Since: now.Add(time.Second)}}, start},
		"SMS=1/1",
	},
	{
		messagedb.ListConduct, args{[]notify.Standing{{Channel: delivery.SMS, Since: now.Add(-5 * time.Hour)}}, start},
		"SMS=4/5",
	},
	{messagedb.CountTests, args{"third", now.Add(time.Hour)}, "0"},
	{messagedb.CountTests, args{"other", now}, "0"},
	{messagedb.ListSubjects, args{"", "", "audit", ""}, "audit=Dusk,dock,Cy"},
	{messagedb.ListSent, args{"member", now.Add(-time.Hour)}, "member=SMS=01T12:00 01T13:00"},
	{
		messagedb.ListRecipients, args{"third", opened},
		"third=third/true/Cy/+4413//de//21/0/0/6/0/0//SMS=UNSUBSCRIBED/notice third fourth//",
	},
	{messagedb.ListPreferences, args{"third"}, ""},
	{
		messagedb.ListAccessParties, args{""},
		"//////third/////false/01T00:00/01T00:00/false/01T00:00/00000000-0000-0000-0000-000000000000/0/0/third=tru" +
			"e/third=Cy",
	},
}
