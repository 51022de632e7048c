package data

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

var messageWrites = []write{
	{messagedb.InsertDeliveries, args{[]messagedb.Delivery{{
		ID: id[tenant.DeliveryID]("seventh"), Recipient: uuid("member"), Status: delivery.Sent,
	}}}, "deliveries +seventh {created_at=0001-01-01T00:00:00+00:00 recipient=member status=SENT " +
		"updated_at=0001-01-01T00:00:00+00:00}"},
	{messagedb.UpdateDeliveries, args{[]messagedb.DeliveryOutcome{
		{ID: id[tenant.DeliveryID]("third"), Status: delivery.Failed, ErrorCode: "1", ProviderID: "p", Segments: 2},
	}, now}, "deliveries third {error_code=1 provider_id=p segments=2}"},
	{
		messagedb.PutPhoneTenants, args{[]string{"+1"}},
		"shared_contacts +\\xc59dc4e44ff99288156d4dff2168f6ac7ddee6b1fc7ccc0754656ffaa6d351ea " +
			"{number_hash=\\xc59dc4e44ff99288156d4dff2168f6ac7ddee6b1fc7ccc0754656ffaa6d351ea}",
	},
	{messagedb.AddSendingHours, args{[]notify.SendingHour{
		{SendingKey: notify.SendingKey{Channel: delivery.SMS, Country: "AT", Hour: now}, Sent: 2, Waiting: 3, Alarm: 50},
		{SendingKey: notify.SendingKey{Channel: delivery.SMS, Country: "AT", Hour: start}, Waiting: 1},
	}}, `
sending_counts +SMS AT 2026-03-02 08:00:00+00 {channel=SMS country=AT hour=2026-03-02T08:00:00+00:00 waiting=1}
sending_counts SMS AT 2026-03-01 12:00:00+00 {sent=3 waiting=3}`},
	{messagedb.AddSendingHours, args{[]notify.SendingHour(nil)}, ""},
	{messagedb.PutStandings, args{[]notify.Standing(nil)}, ""},
	{messagedb.UpdateDeliveries, args{[]messagedb.DeliveryOutcome(nil), now}, ""},
	{messagedb.ReturnSending, args{map[notify.SendingKey]int{
		{Channel: delivery.SMS, Country: "DE", Hour: now.Add(time.Hour)}: 2,
		{Channel: delivery.SMS, Country: "AT", Hour: now}:                7,
		{Channel: delivery.SMS, Country: "AT", Hour: start}:              1,
	}}, `
sending_counts SMS AT 2026-03-01 12:00:00+00 {sent=0}
sending_counts SMS DE 2026-03-01 13:00:00+00 {sent=3}`},
	{messagedb.PutStandings, args{[]notify.Standing{
		{Channel: delivery.SMS, Level: 2, Since: start, ReviewedAt: start},
		{Channel: delivery.Email, Level: 0, Since: start, ReviewedAt: start},
	}}, `
sending_standings +EMAIL {channel=EMAIL reviewed_at=2026-03-02T08:00:00+00:00 since=2026-03-02T08:00:00+00:00}
sending_standings SMS {level=2 reviewed_at=2026-03-02T08:00:00+00:00 since=2026-03-02T08:00:00+00:00}`},
	{messagedb.DeleteOldSendingHours, args{now}, `
sending_counts -EMAIL  2026-03-01 11:00:00+00
sending_counts -SMS AT 2026-03-01 11:00:00+00`},
	{messagedb.ReportDelivery, args{messagedb.Delivery{
		ID: id[tenant.DeliveryID]("third"), Status: delivery.Delivered, Segments: 2,
	}, start}, "deliveries third {segments=2 status=DELIVERED updated_at=2026-03-02T08:00:00+00:00}"},
	{
		messagedb.PutSenders, args{messagedb.Sealed{Text: []byte("new"), Version: 2, UpdatedAt: start}},
		"notification_senders  {domain_check_at=null sealed=\\x6e6577 " +
			"updated_at=2026-03-02T08:00:00+00:00 version=2}",
	},
	{messagedb.PutNotificationSettings, args{notify.Settings{
		PerDay: map[delivery.Channel]int{delivery.SMS: 2, delivery.Push: 3, delivery.Email: 4}, Version: 2, UpdatedAt: start,
	}}, "notification_settings  {email_per_day=4 push_per_day=3 " +
		"quiet_hours_end=00:00:00 quiet_hours_start=00:00:00 sms_per_day=2 updated_at=2026-03-02T08:00:00+00:00 " +
		"version=2}"},
	{messagedb.PutTemplate, args{messagedb.OwnTemplate{Template: content.Template{
		Topic: "BOOKED", Channel: delivery.SMS, Locale: "en", Body: "Hi",
	}, Version: 2, UpdatedAt: start}}, "notification_templates BOOKED SMS en {body=Hi " +
		"updated_at=2026-03-02T08:00:00+00:00 version=2}"},
	{messagedb.InsertNotices, args{[]notify.Notice{{
		ID: id[tenant.NoticeID]("second"), Topic: "BOOKED", Lane: notify.Alert, Member: id[tenant.MemberID]("member"),
		Session: id[tenant.SessionID]("session"), Booking: id[tenant.BookingID]("booking"), Thing: uuid("booking"),
		Revision: "9", DueAt: now, ExpiresAt: start, At: start,
	}}, start, func(time.Time) {}}, "notices +second {booking_id=booking created_at=2026-03-02T08:00:00+00:00 " +
		"due_at=2026-03-01T12:00:00+00:00 expires_at=2026-03-02T08:00:00+00:00 " +
		"happened_at=2026-03-02T08:00:00+00:00 lane=ALERT member_id=member recipient=member revision=9 " +
		"session_id=session thing=booking topic=BOOKED}"},
	{messagedb.InsertNotices, args{[]notify.Notice{{ // it is there
		ID: id[tenant.NoticeID]("second"), Topic: "BOOKED", Lane: notify.Alert, Member: id[tenant.MemberID]("member"),
		Thing: uuid("booking"), Revision: "1", DueAt: now, ExpiresAt: start, At: start,
	}}, start, func(time.Time) {}}, ""},
	{messagedb.CloseNotice, args{"notice", now}, "notices notice {done_at=2026-03-01T12:00:00+00:00}"},
	{messagedb.CloseNotice, args{"third", start}, ""},
	{messagedb.UpdateNotices, args{[]notify.NoticeState{
		{ID: id[tenant.NoticeID]("notice"), DueAt: start, Attempts: 1, Done: true},
	}, now}, `
notices notice {attempts=1 done_at=2026-03-01T12:00:00+00:00 due_at=2026-03-02T08:00:00+00:00}`},
	{messagedb.UpdateNotices, args{[]notify.NoticeState{
		{ID: id[tenant.NoticeID]("notice"), DueAt: start, Attempts: 1, AfterAttempt: 1},
	}, now}, ""},
	{messagedb.UpdateNotices, args{[]notify.NoticeState{
		{ID: id[tenant.NoticeID]("notice"), DueAt: start, Attempts: 1},
		{ID: id[tenant.NoticeID]("other"), DueAt: now, Attempts: 2},
	}, now}, `
notices notice {attempts=1 due_at=2026-03-02T08:00:00+00:00}
notices other {attempts=2 due_at=2026-03-01T12:00:00+00:00 sending=false}`},
	{messagedb.UpdateNotices, args{[]notify.NoticeState{
		{ID: id[tenant.NoticeID]("other"), DueAt: start, AfterAttempt: 1, Attempts: 1}, // another attempt
		{ID: id[tenant.NoticeID]("fifth"), DueAt: start, AfterAttempt: 1, Attempts: 2, AfterChannels: 1},
	}, now}, "notices fifth {attempts=2 due_at=2026-03-02T08:00:00+00:00 sending=false tried=[]}"},
	{messagedb.UpdateNotices, args{[]notify.NoticeState{
		{ID: id[tenant.NoticeID]("fifth"), DueAt: start, AfterAttempt: 1, Attempts: 2}, // another channel
	}, now}, ""},
	{func(tx *pg.Tx, in tenant.TenantID, first, then notify.NoticeState) {
		messagedb.UpdateNotices(tx, in, []notify.NoticeState{first}, now)
		messagedb.UpdateNotices(tx, in, []notify.NoticeState{then}, now)
	}, args{
		notify.NoticeState{ID: id[tenant.NoticeID]("notice"), DueAt: now, Sending: true, Attempts: 1, UnknownResults: 1},
		notify.NoticeState{ID: id[tenant.NoticeID]("notice"), DueAt: start, AfterAttempt: 1, Attempts: 1, UnknownResults: 2},
	}, "notices notice {attempts=1 sending=true unsure=1}"},
	{messagedb.ReopenNotice, args{
		messagedb.Delivery{Notice: id[tenant.NoticeID]("third"), Channel: delivery.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: now, Attempts: 2}, now,
	}, "notices third {attempts=2 done_at=null due_at=2026-03-01T12:00:00+00:00}"},
	{messagedb.ReopenNotice, args{
		messagedb.Delivery{Notice: id[tenant.NoticeID]("third"), Channel: delivery.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: now, Attempts: 2, FailedChannels: []delivery.Channel{delivery.Push}}, now,
	}, `
notices third {attempts=2 done_at=null due_at=2026-03-01T12:00:00+00:00 tried=["PUSH"]}`},
	{messagedb.ReopenNotice, args{
		messagedb.Delivery{Notice: id[tenant.NoticeID]("third"), Channel: delivery.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: now}, start,
	}, ""},
	{messagedb.ReopenNotice, args{
		messagedb.Delivery{Notice: id[tenant.NoticeID]("notice"), Channel: delivery.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: now}, now,
	}, ""},
	{messagedb.ReopenNotice, args{ // a message of it was delivered
		messagedb.Delivery{Notice: id[tenant.NoticeID]("fourth"), Channel: delivery.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: now}, now,
	}, ""},
	{messagedb.PutStops, args{
		messagedb.NotificationStop{Channel: delivery.Email, Address: "CY@example.com", Reason: notify.Bounced, At: start},
		messagedb.NotificationStop{Channel: delivery.SMS, Reason: notify.Unsubscribed, At: start},
		messagedb.NotificationStop{Channel: delivery.Email, Address: "cy@example.com", Reason: notify.Unsubscribed, At: now},
	}, "notification_stops +EMAIL cy@example.com {address=cy@example.com channel=EMAIL " +
		"created_at=2026-03-02T08:00:00+00:00 reason=BOUNCED}"},
	{messagedb.PutStops, args{messagedb.NotificationStop{
		Channel: delivery.Email, Address: "ANA@example.com", Reason: notify.Bounced, At: start,
	}}, ""},
	{messagedb.PutStops, args{messagedb.NotificationStop{
		Channel: delivery.SMS, Address: "+43", Reason: notify.Unsubscribed, At: start,
	}}, "notification_stops SMS +43 {created_at=2026-03-02T08:00:00+00:00 reason=UNSUBSCRIBED}"},
	{messagedb.PutStops, args{messagedb.NotificationStop{
		Channel: delivery.Email, Address: "CY@example.com", Reason: notify.Bounced, At: start,
	}}, "notification_stops +EMAIL cy@example.com {address=cy@example.com channel=EMAIL " +
		"created_at=2026-03-02T08:00:00+00:00 reason=BOUNCED}"},
	{messagedb.PutStops, args{messagedb.NotificationStop{
		Channel: delivery.Email, Address: "ANA@example.com", Reason: notify.Unsubscribed, At: start,
	}}, ""},
	{messagedb.PutPreferences, args{
		"third", notify.Preferences{{Topic: "MOVED", Channel: delivery.SMS}: true}, now,
	}, "notification_preferences +third MOVED SMS {channel=SMS enabled=true member_id=third " +
		"topic=MOVED updated_at=2026-03-01T12:00:00+00:00}"},
	{messagedb.PutMemberQuiet, args{"member", &notify.QuietHours{Start: civil.TimeOfDay{Hour: 1}}, now}, `
notification_members member {quiet_hours_end=00:00:00 quiet_hours_start=01:00:00 version=1}`},
	{
		messagedb.PutFeed, args{"receiver", []byte("secret"), now},
		"notification_members +receiver {feed_hash=\\x#secret member_id=receiver " +
			"updated_at=2026-03-01T12:00:00+00:00}",
	},
	{messagedb.CloseFeed, args{"member", now}, "notification_members member {feed_hash=null}"},
	{messagedb.DeleteStop, args{delivery.SMS, "+43"}, "notification_stops -SMS +43"},
	{messagedb.DeleteStop, args{delivery.Email, "+43"}, ""},
	{messagedb.DeleteStop, args{delivery.Email, "ANA@example.com"}, "notification_stops -EMAIL ana@example.com"},
	{messagedb.Resubscribe, args{"member"}, "notification_stops -EMAIL ana@example.com"},
	{messagedb.Resubscribe, args{"other"}, ""},
	{messagedb.DeleteTemplate, args{notify.Topic("BOOKED"), delivery.SMS, "en"}, "notification_templates -BOOKED SMS en"},
	{messagedb.DeleteTemplate, args{notify.Topic("BOOKED"), delivery.SMS, "de"}, ""},
	{messagedb.DeleteTemplate, args{notify.Topic("MOVED"), delivery.SMS, "en"}, ""},
	{messagedb.DeleteTemplate, args{notify.Topic("BOOKED"), delivery.Email, "en"}, ""},
	{messagedb.Resubscribe, args{"receiver"}, ""},
	{
		messagedb.UpdateDeliveries, args{[]messagedb.DeliveryOutcome{{ID: id[tenant.DeliveryID]("batch")}}, start},
		"deliveries batch {updated_at=2026-03-02T08:00:00+00:00}",
	},
	{messagedb.UpdateDeliveries, args{[]messagedb.DeliveryOutcome{
		{ID: id[tenant.DeliveryID]("code"), Status: delivery.Sent, Reason: notify.BadTemplate, ErrorCode: "1"},
		{ID: id[tenant.DeliveryID]("account"), Status: delivery.Sent, ErrorCode: "2"},
	}, now}, `
deliveries account {error_code=2 status=SENT}
deliveries code {error_code=1 reason=TEMPLATE status=SENT}`},
	{messagedb.UpdateDeliveries, args{[]messagedb.DeliveryOutcome{
		{ID: id[tenant.DeliveryID]("code"), Status: delivery.Failed, Reason: notify.BadTemplate, ErrorCode: "1"},
	}, now}, "deliveries code {error_code=1}"},
	{messagedb.ReopenNotice, args{ // it is open, and not being sent
		messagedb.Delivery{Notice: id[tenant.NoticeID]("notice"), Channel: delivery.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: start, FailedChannels: []delivery.Channel{delivery.Push}}, now,
	}, ""},
	{messagedb.ReopenNotice, args{
		messagedb.Delivery{Notice: id[tenant.NoticeID]("notice"), Channel: delivery.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: start, FailedChannels: []delivery.Channel{delivery.Push}}, start,
	}, ""},
	{messagedb.ReopenNotice, args{ // it is being sent
		messagedb.Delivery{Notice: id[tenant.NoticeID]("fifth"), Channel: delivery.SMS, CreatedAt: now},
		notify.NoticeState{DueAt: start, Attempts: 2}, now,
	}, "notices fifth {attempts=2 due_at=2026-03-02T08:00:00+00:00 sending=false tried=[]}"},
	{messagedb.ReopenNotice, args{ // the channel has failed before
		messagedb.Delivery{Notice: id[tenant.NoticeID]("fifth"), Channel: delivery.Push, CreatedAt: now},
		notify.NoticeState{DueAt: start, Attempts: 2}, now,
	}, ""},
	{messagedb.ReopenNotice, args{ // the message that was lost is the last one over the channel that was sent
		messagedb.Delivery{Notice: id[tenant.NoticeID]("third"), Channel: delivery.SMS, CreatedAt: now.Add(-5 * time.Hour)},
		notify.NoticeState{DueAt: now}, now,
	}, "notices third {done_at=null due_at=2026-03-01T12:00:00+00:00}"},
	{messagedb.ReopenNotice, args{ // a later one was sent
		messagedb.Delivery{Notice: id[tenant.NoticeID]("third"), Channel: delivery.SMS, CreatedAt: now.Add(-6 * time.Hour)},
		notify.NoticeState{DueAt: now}, now,
	}, ""},
	{messagedb.ReopenNotice, args{ // it was sent over another channel
		messagedb.Delivery{Notice: id[tenant.NoticeID]("third"), Channel: delivery.Push, CreatedAt: now.Add(-6 * time.Hour)},
		notify.NoticeState{DueAt: now}, now,
	}, "notices third {done_at=null due_at=2026-03-01T12:00:00+00:00}"},
}
