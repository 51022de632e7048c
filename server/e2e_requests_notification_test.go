package main

import (
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/sending"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const (
	aTopic   = v1.NotificationTopic_NOTIFICATION_TOPIC_REMINDER
	aChannel = v1.NotificationChannel_NOTIFICATION_CHANNEL_EMAIL
)

func night() *v1.QuietHours {
	return &v1.QuietHours{Start: &timeofday.TimeOfDay{Hours: 22}, End: &timeofday.TimeOfDay{Hours: 7}}
}

// Messages.
var notificationRequests = map[string][]build{
	"NotificationService/GetPreferences": {
		always(&v1.GetPreferencesRequest{}),
		func(w *world) proto.Message { return &v1.GetPreferencesRequest{MemberId: text(w.other.Member)} },
	},
	"NotificationService/UpdatePreferences": {always(&v1.UpdatePreferencesRequest{
		Preferences: &v1.NotificationPreferences{
			Preferences: []*v1.NotificationPreference{{Topic: aTopic, Channel: aChannel, Enabled: true}}, QuietHours: night(),
		},
		UpdateMask: paths("preferences", "quiet_hours"),
	})},
	"NotificationService/CreateCalendarFeed": {always(&v1.CreateCalendarFeedRequest{})},
	"NotificationService/DeleteCalendarFeed": {always(&v1.DeleteCalendarFeedRequest{})},
	"NotificationService/GetNotificationSettings": {
		always(&v1.GetNotificationSettingsRequest{}),
	},
	"NotificationService/UpdateNotificationSettings": {func(*world) proto.Message {
		return &v1.UpdateNotificationSettingsRequest{
			Settings: &v1.NotificationSettings{
				QuietHours: night(), SmsPerDay: 5, PushPerDay: 5, EmailPerDay: 5,
				Reminders:  []*durationpb.Duration{durationpb.New(time.Hour)},
				SenderName: unique(), ReplyTo: unique() + "@example.com", Locale: "de", CreditsLowAt: 2,
				PhoneCountries: []string{"DE", "PT"},
			},
			UpdateMask: paths("quiet_hours", "email_in_quiet_hours", "sms_per_day", "push_per_day", "email_per_day",
				"reminders", "reply_to", "sender_name", "credits_low_at", "locale", "phone_countries"),
		}
	}},
	"NotificationService/ListTemplates": {
		always(&v1.ListTemplatesRequest{}),
		always(&v1.ListTemplatesRequest{Topic: aTopic, Channel: aChannel, Locale: "de"}),
	},
	"NotificationService/UpdateTemplate": {func(*world) proto.Message {
		return &v1.UpdateTemplateRequest{Template: &v1.NotificationTemplate{
			Topic: aTopic, Channel: aChannel, Locale: "en", Subject: unique() + " {{.Title}}", Body: unique() + " {{.When}}",
		}}
	}},
	"NotificationService/PreviewTemplate": {
		always(&v1.PreviewTemplateRequest{
			Template: &v1.NotificationTemplate{Topic: aTopic, Channel: aChannel, Locale: "fr"},
		}),
		always(&v1.PreviewTemplateRequest{Template: &v1.NotificationTemplate{
			Topic: aTopic, Channel: aChannel, Locale: "fr", Subject: "{{.Title}}", Body: "{{.When}}",
		}}),
	},
	"NotificationService/ResetTemplate": {
		always(&v1.ResetTemplateRequest{Topic: aTopic, Channel: aChannel, Locale: "en"}),
	},
	"NotificationService/ListDeliveries": {
		func(w *world) proto.Message {
			booking, offer := w.newDelivery()
			return &v1.ListDeliveriesRequest{Filter: &v1.DeliveryFilter{
				MemberId: text(w.other.Member), BookingId: text(booking), OfferId: text(offer),
				Statuses: []v1.DeliveryStatus{v1.DeliveryStatus_DELIVERY_STATUS_SENT}, Channel: aChannel, Topic: aTopic,
				TimeRange: &v1.TimeRange{Start: timestamppb.New(w.now.Add(-time.Hour)), End: timestamppb.New(w.now.Add(time.Hour))},
			}}
		},
		func(w *world) proto.Message {
			w.newDelivery()
			w.newDelivery()
			return &v1.ListDeliveriesRequest{PageSize: 1}
		},
	},
	"NotificationService/ListOutbox": {
		func(w *world) proto.Message {
			booking, offer := w.newDelivery()
			return &v1.ListOutboxRequest{Filter: &v1.DeliveryFilter{
				MemberId: text(w.other.Member), BookingId: text(booking), OfferId: text(offer),
			}}
		},
		func(w *world) proto.Message {
			w.newDelivery()
			w.newDelivery()
			return &v1.ListOutboxRequest{PageSize: 1}
		},
	},
	"NotificationService/SendTest": {func(w *world) proto.Message {
		w.confirmContacts()
		return &v1.SendTestRequest{Topic: aTopic, Channel: aChannel, Locale: "de"}
	}},
	"NotificationService/ListSendingQuotas": {
		always(&v1.ListSendingQuotasRequest{}),
	},
	"NotificationService/GetSenders": {always(&v1.GetSendersRequest{})},
	"NotificationService/UpdateSenders": {
		func(*world) proto.Message {
			return &v1.UpdateSendersRequest{
				Senders: &v1.Senders{Twilio: &v1.TwilioSender{
					AccountSid: "AC" + strings.Repeat("0", 32), AuthToken: unique(), From: "+493012345678",
				}},
				UpdateMask: paths("twilio"),
			}
		},
		func(w *world) proto.Message {
			return &v1.UpdateSendersRequest{
				Senders:    &v1.Senders{Domain: &v1.SendingDomain{FromAddress: w.fromAddress()}},
				UpdateMask: paths("domain"),
			}
		},
	},
	"NotificationService/VerifySendingDomain": {func(w *world) proto.Message {
		w.publishDomain()
		return new(v1.VerifySendingDomainRequest)
	}},
}

// fromAddress returns another address at the domain of the world.
func (w *world) fromAddress() string {
	return unique() + "@berth" + strings.ReplaceAll(w.ID.String(), "-", "") + ".com"
}

// publishDomain publishes the records of a sending domain.
func (w *world) publishDomain() {
	w.t.Helper()
	senders := expect.Value(w.app.Messages.UpdateSenders(w.ctx(), w.owner, nil, func(s *messages.Senders) {
		s.Domain = &sending.Domain{Address: w.fromAddress()}
	}))(w.t)
	for _, r := range senders.Domain.Records() {
		w.live.dns.Set(r.Name, r.Value)
	}
}

// newDelivery writes a line of the delivery log about a booking and an offer, with its message. It does so by SQL,
// because no worker runs here.
func (w *world) newDelivery() (tenant.BookingID, tenant.OfferID) {
	w.t.Helper()
	booking, offer := w.newBooking(w.other), tenant.New[tenant.OfferID](w.now)
	expect.OK(w.t)(w.live.DB.Owner.Exec(w.ctx(), `
insert into deliveries (tenant_id, id, topic, channel, status, recipient, member_id, booking_id, offer_id, provider,
  content, created_at, updated_at)
values ($1, $2, 'REMINDER', 'EMAIL', 'SENT', $3, $3, $4, $5, 'local', '{}', $6, $6)`,
		w.ID, tenant.New[tenant.DeliveryID](w.now), w.other.Member, booking, offer, w.now))
	return booking, offer
}
