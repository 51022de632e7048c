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
	"NotificationService/GetNotificationPreferences": {
		always(&v1.GetNotificationPreferencesRequest{}),
		func(w *world) proto.Message {
			return &v1.GetNotificationPreferencesRequest{MemberId: text(w.other.Member)}
		},
	},
	"NotificationService/UpdateNotificationPreferences": {always(&v1.UpdateNotificationPreferencesRequest{
		Preferences: &v1.NotificationPreferencesInput{
			Preferences: []*v1.NotificationPreferenceInput{{Topic: aTopic, Channel: aChannel, Enabled: true}},
			QuietHours:  night(),
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
			Settings: &v1.NotificationSettingsInput{
				QuietHours: night(), SmsPerDay: new(int32(5)), PushPerDay: new(int32(5)), EmailPerDay: new(int32(5)),
				Reminders:  []*durationpb.Duration{durationpb.New(time.Hour)},
				SenderName: unique(), ReplyTo: unique() + "@example.com", Locale: "de", CreditsLowAt: new(int32(2)),
				PhoneCountries: []string{"DE", "PT"},
			},
			UpdateMask: paths("quiet_hours", "sms_per_day", "push_per_day", "email_per_day",
				"reminders", "reply_to", "sender_name", "credits_low_at", "locale", "phone_countries"),
		}
	}},
	"NotificationService/GetNotificationTemplate": {
		always(&v1.GetNotificationTemplateRequest{Topic: aTopic, Channel: aChannel, Locale: "de"}),
	},
	"NotificationService/ListNotificationTemplates": {
		always(&v1.ListNotificationTemplatesRequest{}),
		always(&v1.ListNotificationTemplatesRequest{
			Filter: &v1.NotificationTemplateFilter{Topic: aTopic, Channel: aChannel, Locale: "de"},
		}),
	},
	"NotificationService/UpdateNotificationTemplate": {func(*world) proto.Message {
		return &v1.UpdateNotificationTemplateRequest{
			Topic: aTopic, Channel: aChannel, Locale: "en", Template: &v1.NotificationTemplateInput{
				Subject: unique() + " {{.Title}}", Body: unique() + " {{.When}}",
			},
		}
	}},
	"NotificationService/PreviewNotificationTemplate": {
		always(&v1.PreviewNotificationTemplateRequest{Topic: aTopic, Channel: aChannel, Locale: "fr"}),
		always(&v1.PreviewNotificationTemplateRequest{
			Topic: aTopic, Channel: aChannel, Locale: "fr",
			Template: &v1.NotificationTemplateInput{Subject: "{{.Title}}", Body: "{{.When}}"},
		}),
	},
	"NotificationService/ResetNotificationTemplate": {
		always(&v1.ResetNotificationTemplateRequest{Topic: aTopic, Channel: aChannel, Locale: "en"}),
	},
	"NotificationService/GetNotificationDelivery": {func(w *world) proto.Message {
		id, _, _ := w.newDelivery()
		return &v1.GetNotificationDeliveryRequest{NotificationDeliveryId: text(id)}
	}},
	"NotificationService/ListNotificationDeliveries": {
		func(w *world) proto.Message {
			_, booking, offer := w.newDelivery()
			return &v1.ListNotificationDeliveriesRequest{Filter: &v1.NotificationDeliveryFilter{
				MemberId:  text(w.other.Member),
				BookingId: text(booking),
				OfferId:   text(offer),
				Statuses: []v1.NotificationDeliveryStatus{
					v1.NotificationDeliveryStatus_NOTIFICATION_DELIVERY_STATUS_SENT,
				},
				Channel: aChannel,
				Topic:   aTopic,
				CreatedWithin: &v1.TimeRange{
					Start: timestamppb.New(w.now.Add(-time.Hour)), End: timestamppb.New(w.now.Add(time.Hour)),
				},
			}}
		},
		func(w *world) proto.Message {
			w.newDelivery()
			w.newDelivery()
			return &v1.ListNotificationDeliveriesRequest{PageSize: 1}
		},
	},
	"NotificationService/ListNotificationOutbox": {
		func(w *world) proto.Message {
			_, booking, offer := w.newDelivery()
			return &v1.ListNotificationOutboxRequest{Filter: &v1.NotificationDeliveryFilter{
				MemberId: text(w.other.Member), BookingId: text(booking), OfferId: text(offer),
			}}
		},
		func(w *world) proto.Message {
			w.newDelivery()
			w.newDelivery()
			return &v1.ListNotificationOutboxRequest{PageSize: 1}
		},
	},
	"NotificationService/SendTestNotification": {func(w *world) proto.Message {
		w.confirmContacts()
		return &v1.SendTestNotificationRequest{Topic: aTopic, Channel: aChannel, Locale: "de"}
	}},
	"NotificationService/ListSendingQuotas": {
		always(&v1.ListSendingQuotasRequest{}),
	},
	"NotificationService/GetNotificationSenders": {always(&v1.GetNotificationSendersRequest{})},
	"NotificationService/UpdateNotificationSenders": {
		func(*world) proto.Message {
			return &v1.UpdateNotificationSendersRequest{
				Senders: &v1.NotificationSendersInput{Twilio: &v1.TwilioSenderInput{
					AccountSid: "AC" + strings.Repeat("0", 32), AuthToken: unique(), Sender: "+493012345678",
				}},
				UpdateMask: paths("twilio"),
			}
		},
		func(w *world) proto.Message {
			return &v1.UpdateNotificationSendersRequest{
				Senders:    &v1.NotificationSendersInput{Domain: &v1.SendingDomainInput{FromAddress: w.fromAddress()}},
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
	senders := expect.Value(w.app.Messages.UpdateNotificationSenders(w.ctx(), w.owner, nil, func(s *messages.Senders) {
		s.Domain = &sending.Domain{Address: w.fromAddress()}
	}))(w.t)
	for _, r := range senders.Domain.Records() {
		w.live.dns.Set(r.Name, r.Value)
	}
}

// newDelivery writes a line of the delivery log about a booking and an offer, with its message. It does so by SQL,
// because no worker runs here.
func (w *world) newDelivery() (tenant.DeliveryID, tenant.BookingID, tenant.OfferID) {
	w.t.Helper()
	id, booking, offer := tenant.New[tenant.DeliveryID](w.now), w.newBooking(w.other), tenant.New[tenant.OfferID](w.now)
	expect.OK(w.t)(w.live.DB.Owner.Exec(w.ctx(), `
insert into deliveries (tenant_id, id, topic, channel, status, recipient, member_id, booking_id, offer_id, provider,
  content, created_at, updated_at)
values ($1, $2, 'REMINDER', 'EMAIL', 'SENT', $3, $3, $4, $5, 'local', '{}', $6, $6)`,
		w.ID, id, w.other.Member, booking, offer, w.now))
	return id, booking, offer
}
