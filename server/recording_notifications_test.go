package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const (
	bySMS  = v1.NotificationChannel_NOTIFICATION_CHANNEL_SMS
	byPush = v1.NotificationChannel_NOTIFICATION_CHANNEL_PUSH
	byMail = v1.NotificationChannel_NOTIFICATION_CHANNEL_EMAIL
)

// Preferences, settings, templates and senders, and messages of every topic with their full texts.
func recordNotifications(s *studio) {
	s.wholeMessages = true
	recordPreferences(s)
	recordSettings(s)
	recordTemplates(s)
	recordSenders(s)
	recordMessages(s)
	recordQuietHours(s)
	recordDeliveries(s)
}

func hoursFrom(start, end int32) *v1.QuietHours {
	return &v1.QuietHours{Start: timeOfDay(start, 0), End: timeOfDay(end, 0)}
}

func recordPreferences(s *studio) {
	s.record(s.mia, "Mia reads her preferences", &v1.GetPreferencesRequest{})
	s.record(s.cora, "The coach reads Mia's preferences", &v1.GetPreferencesRequest{MemberId: s.mia.id})
	s.recordError(s.tom, "Tom reads Mia's preferences", "MEMBER_NOT_FOUND", &v1.GetPreferencesRequest{MemberId: s.mia.id})
	s.recordError(
		s.cora, "The coach reads the preferences of an unknown member", "MEMBER_NOT_FOUND",
		&v1.GetPreferencesRequest{MemberId: absentID},
	)
	choose := func(quiet *v1.QuietHours, chosen ...*v1.NotificationPreference) *v1.UpdatePreferencesRequest {
		return &v1.UpdatePreferencesRequest{
			Preferences: &v1.NotificationPreferences{Preferences: chosen, QuietHours: quiet},
			UpdateMask:  paths("preferences", "quiet_hours"),
		}
	}
	cancelled := &v1.NotificationPreference{
		Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_BOOKING_CANCELLED, Channel: bySMS, Enabled: true,
	}
	s.record(s.mia, "Mia wants to hear of cancellations by SMS", choose(hoursFrom(23, 6), cancelled))
	s.record(s.mia, "Mia has the tenant's quiet hours", choose(nil))
	s.recordError(s.mia, "Mia chooses twice", "INVALID_FIELD", choose(nil, cancelled, cancelled))
	s.recordError(s.mia, "Mia's quiet hours have seconds", "INVALID_FIELD",
		choose(&v1.QuietHours{Start: &timeofday.TimeOfDay{Hours: 22, Seconds: 5}, End: timeOfDay(6, 0)}))
	feed := recordResponse[*v1.CreateCalendarFeedResponse](
		s.recording, s.mia, "Mia opens a calendar feed", &v1.CreateCalendarFeedRequest{},
	).GetUrl()
	s.book(s.mia, s.class("calendar", on(20, "18:00")))
	s.fetch(http.MethodGet, "A stranger reads Mia's calendar", feed)
	s.record(s.mia, "Mia closes her calendar feed", &v1.DeleteCalendarFeedRequest{})
	s.record(s.mia, "Mia closes it again", &v1.DeleteCalendarFeedRequest{})
	s.fetch(http.MethodGet, "A stranger reads Mia's closed calendar", feed)
}

// fetch requests a page and records the response, without the content of HTML pages.
func (s *studio) fetch(method, title, url string) {
	s.t.Helper()
	request := expect.Value(http.NewRequestWithContext(
		s.t.Context(), method, s.address+strings.TrimPrefix(url, "https://berth.example"), nil,
	))(s.t)
	answer, body := s.exchange(request)
	kind, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	fmt.Fprintf(
		&s.text, "--- %s\n%s %s\n← %s %s\n", title, method, s.names.normalizeText(url, "", ""), answer.Status, kind,
	)
	if kind == "text/calendar" {
		fmt.Fprintln(&s.text, render(s.names.normalize(string(body), "", ""), ""))
	}
	s.text.WriteString("\n")
	s.settle()
}

func recordSettings(s *studio) {
	s.record(s.adam, "The admin reads the settings", &v1.GetNotificationSettingsRequest{})
	s.recordError(s.cora, "The coach reads the settings", "PERMISSION_DENIED", &v1.GetNotificationSettingsRequest{})
	edit := &v1.UpdateNotificationSettingsRequest{
		Settings: &v1.NotificationSettings{
			QuietHours: hoursFrom(21, 7), SmsPerDay: 3, ReplyTo: "desk@harbour.example", SenderName: "Harbour", CreditsLowAt: 2,
			Locale:    "en",
			Reminders: []*durationpb.Duration{durationpb.New(48 * time.Hour), durationpb.New(30 * time.Minute)}, Etag: "v0",
		},
		UpdateMask: paths("quiet_hours", "sms_per_day", "reply_to", "sender_name", "credits_low_at", "locale", "reminders"),
	}
	s.record(s.adam, "The admin edits the settings", edit)
	s.recordError(s.adam, "The admin edits settings that have changed", "ETAG_MISMATCH", edit)
	s.recordError(s.adam, "The admin's language is none", "INVALID_FIELD",
		&v1.UpdateNotificationSettingsRequest{Settings: &v1.NotificationSettings{Locale: "xx"}, UpdateMask: paths("locale")})
}

func recordTemplates(s *studio) {
	s.record(s.adam, "The admin lists templates in English", &v1.ListTemplatesRequest{Locale: "en"})
	s.record(
		s.adam, "The admin lists templates of offers in German",
		&v1.ListTemplatesRequest{Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_OFFER, Locale: "de"},
	)
	own := &v1.NotificationTemplate{
		Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_BOOKING_CONFIRMED, Channel: byMail, Locale: "fr",
		Subject: "Réservé : {{.Title}}", Body: "{{.When}}, {{upper .Title}}.",
	}
	s.record(s.adam, "The admin has a wording in French", &v1.UpdateTemplateRequest{Template: own})
	s.record(s.adam, "The admin previews it", &v1.PreviewTemplateRequest{Template: own})
	html := proto.CloneOf(own)
	html.Html = "<p>{{.Title}}</p>"
	s.recordError(
		s.adam, "The admin has HTML and no mail account", "TEMPLATE_HTML", &v1.UpdateTemplateRequest{Template: html},
	)
	wrong := &v1.NotificationTemplate{
		Topic: own.Topic, Channel: own.Channel, Locale: "fr", Subject: "Réservé", Body: "Bonjour\n{{.Nobody}}",
	}
	s.recordError(
		s.adam, "The admin's wording names what is not there", "TEMPLATE_INVALID", &v1.UpdateTemplateRequest{Template: wrong},
	)
	s.recordError(
		s.adam, "The admin previews what is not there", "TEMPLATE_INVALID", &v1.PreviewTemplateRequest{Template: wrong},
	)
	stale := &v1.NotificationTemplate{
		Topic: own.Topic, Channel: own.Channel, Locale: "fr", Subject: "Réservé", Body: "Bonjour", Etag: "v0",
	}
	s.recordError(
		s.adam, "The admin edits a wording that has changed", "ETAG_MISMATCH", &v1.UpdateTemplateRequest{Template: stale},
	)
	s.record(
		s.adam, "The admin goes back to the default",
		&v1.ResetTemplateRequest{Topic: own.Topic, Channel: own.Channel, Locale: "fr"},
	)
	s.recordError(s.cora, "The coach edits a wording", "PERMISSION_DENIED", &v1.UpdateTemplateRequest{Template: own})
	s.record(s.adam, "The admin previews the default push", &v1.PreviewTemplateRequest{Template: &v1.NotificationTemplate{
		Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_REMINDER, Channel: byPush, Locale: "de",
	}})
	test := &v1.SendTestRequest{Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_REMINDER, Channel: byMail, Locale: "de"}
	s.record(s.olga, "The owner sends herself an example, unconfirmed", test)
	s.record(s.olga, "The owner confirms her email", &v1.ConfirmContactRequest{
		Kind: v1.ContactKind_CONTACT_KIND_EMAIL, Code: s.code(s.olga, byMail),
	})
	s.record(s.olga, "The owner sends herself an example", test)
	test.Channel = byPush
	s.recordError(s.olga, "The owner has no device", "UNREACHABLE", test)
}

func recordSenders(s *studio) {
	s.startAt(on(5, "10:10"))
	update := func(senders *v1.Senders, names ...string) *v1.UpdateSendersRequest {
		return &v1.UpdateSendersRequest{Senders: senders, UpdateMask: paths(names...)}
	}
	twilio := &v1.TwilioSender{AccountSid: "AC" + strings.Repeat("0", 32), AuthToken: "token", From: "+493012345678"}
	s.record(s.adam, "The admin reads who carries messages", &v1.GetSendersRequest{})
	s.record(s.olga, "The owner has a number", update(&v1.Senders{Twilio: twilio}, "twilio"))
	s.recordError(s.olga, "The owner's other number lacks its secret", "INVALID_FIELD",
		update(
			&v1.Senders{Twilio: &v1.TwilioSender{AccountSid: "AC" + strings.Repeat("1", 32), From: "+493012345678"}}, "twilio",
		))
	s.recordError(
		s.olga, "The owner's key file is none", "INVALID_FIELD",
		update(&v1.Senders{Fcm: &v1.FcmSender{ProjectId: "p", ServiceAccountJson: []byte("none")}}, "fcm"),
	)
	s.recordError(
		s.olga, "The owner edits senders that have changed", "ETAG_MISMATCH", update(&v1.Senders{Etag: "v0"}, "smtp"),
	)
	s.recordError(
		s.adam, "The admin connects a number", "PERMISSION_DENIED", update(&v1.Senders{Twilio: twilio}, "twilio"),
	)
	s.record(s.olga, "The owner has no number any more", update(&v1.Senders{}, "twilio"))
	s.recordError(s.cora, "The coach reads who carries messages", "PERMISSION_DENIED", &v1.GetSendersRequest{})
	recordSendingDomain(s)
	s.record(s.adam, "The admin reads quotas, of which the local outbox has none", &v1.ListSendingQuotasRequest{})
	s.recordError(s.cora, "The coach reads quotas", "PERMISSION_DENIED", &v1.ListSendingQuotasRequest{})
}

// recordSendingDomain verifies a domain from which mails come.
func recordSendingDomain(s *studio) {
	set := func(address string) *v1.UpdateSendersRequest {
		return &v1.UpdateSendersRequest{
			Senders: &v1.Senders{Domain: &v1.SendingDomain{FromAddress: address}}, UpdateMask: paths("domain"),
		}
	}
	verify := new(v1.VerifySendingDomainRequest)
	s.recordError(s.olga, "The owner verifies no domain", "SENDING_DOMAIN_NOT_FOUND", verify)
	s.recordError(s.olga, "The owner sends from a private domain", "SENDING_DOMAIN_INVALID", set("hello@studio.internal"))
	s.recordError(s.adam, "The admin sends from a domain", "PERMISSION_DENIED", set("hello@studio.com"))
	senders := recordResponse[*v1.UpdateSendersResponse](
		s.recording, s.olga, "The owner sends from a domain", set("hello@studio.com"),
	).GetSenders()
	proof, key := senders.GetDomain().GetRecords()[0], senders.GetDomain().GetRecords()[1]
	s.recordError(s.olga, "The owner verifies it too soon", "DNS_RECORD_MISSING", verify)
	s.dns.Break(true)
	s.recordError(s.olga, "The owner verifies it while its name servers fail", "DNS_UNAVAILABLE", verify)
	s.dns.Break(false)
	s.dns.Set(proof.GetName(), proof.GetValue())
	s.dns.Set(key.GetName(), "v=DKIM1; p=")
	s.recordError(s.olga, "The owner verifies it with another key", "DNS_RECORD_DIFFERENT", verify)
	s.dns.Set(key.GetName(), key.GetValue())
	s.recordError(s.adam, "The admin verifies it", "PERMISSION_DENIED", verify)
	s.record(s.olga, "The owner verifies it", verify)
	s.record(
		s.olga, "The owner sends from the platform's address", &v1.UpdateSendersRequest{
			Senders: new(v1.Senders), UpdateMask: paths("domain"),
		},
	)
}

// recordMessages causes messages of all topics, to people with different channels and languages.
func recordMessages(s *studio) {
	s.startAt(on(5, "10:20"))
	pierre := s.member(&v1.Member{
		Subject: "pierre", Name: "Pierre Membre", Email: "pierre@example.com", Phone: "+33612345678", Locale: "fr",
	})
	s.silently(func() {
		mustCall[*v1.RegisterDeviceResponse](
			s.recording, s.mia, &v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_IOS, Token: "phone"},
		)
		mustCall[*v1.UpdateRulesResponse](s.recording, s.olga, &v1.UpdateRulesRequest{
			Rules: &v1.WaitlistRules{
				Mode: new(v1.WaitlistMode_WAITLIST_MODE_OFFER), OfferWindow: durationpb.New(44 * time.Minute),
			}, UpdateMask: paths("mode", "offer_window"),
		})
	})
	class := s.class("evening", on(7, "18:00"), func(in *v1.SessionInput) {
		in.CoachId, in.ResourceId, in.WaitlistCapacity = s.cora.id, s.room, new(int32(5))
	})
	mias := recordResponse[*v1.BookResponse](
		s.recording, s.mia, "Mia books", &v1.BookRequest{SessionId: class},
	).GetBooking()
	s.record(pierre, "Pierre books", &v1.BookRequest{SessionId: class})
	s.record(s.lena, "Lena waits", &v1.BookRequest{SessionId: class})
	s.record(s.tom, "Tom waits", &v1.BookRequest{SessionId: class})
	s.record(s.mia, "Mia cancels", &v1.CancelBookingRequest{BookingId: mias.GetId()})
	s.startAt(on(5, "10:55"))
	s.record(s.lena, "Lena declines", &v1.DeclineOfferRequest{OfferId: s.liveOffer(class).GetId()})
	s.record(s.tom, "Tom accepts", &v1.AcceptOfferRequest{OfferId: s.liveOffer(class).GetId()})
	s.record(s.adam, "The admin moves the session", &v1.UpdateSessionRequest{
		SessionId: class, Session: &v1.SessionInput{ResourceId: s.annex}, UpdateMask: paths("resource_id"),
	})
	other := s.class("other", on(8, "18:00"))
	s.record(s.mia, "Mia books another", &v1.BookRequest{SessionId: other})
	s.record(s.adam, "The admin cancels it", &v1.CancelSessionRequest{SessionId: other, Reason: "The coach is ill."})
	s.silently(func() {
		plan := mustCall[*v1.CreatePlanResponse](s.recording, s.olga, &v1.CreatePlanRequest{Plan: &v1.PlanInput{
			Name: "Pack", Kind: v1.PlanKind_PLAN_KIND_CREDITS, Credits: 3, Active: true,
		}}).GetPlan().GetId()
		s.subscribe(s.mia, plan)
	})
	s.record(s.mia, "Mia spends a credit", &v1.BookRequest{SessionId: s.class("paid", on(9, "18:00"))})
	full, seat := s.fullSession("pair", 10, "18:00")
	s.record(s.noah, "Noah waits for two", &v1.BookRequest{SessionId: full, PartySize: 2})
	s.record(s.zoe, "Zoe frees one", &v1.CancelBookingRequest{BookingId: seat.GetId()})
}

// recordQuietHours records messages that wait for the morning, due reminders, and unsubscribing.
func recordQuietHours(s *studio) {
	s.startAt(on(5, "22:00"))
	late := s.class("late", on(12, "18:00"), capacity(5))
	s.record(s.tom, "Tom books at night", &v1.BookRequest{SessionId: late})
	s.record(
		s.adam, "The admin sees that it waits",
		&v1.ListDeliveriesRequest{
			Filter: &v1.DeliveryFilter{Statuses: []v1.DeliveryStatus{v1.DeliveryStatus_DELIVERY_STATUS_DEFERRED}},
		},
	)
	s.startAt(on(6, "07:30"))
	s.record(s.adam, "The admin sees that it left in the morning", &v1.ListDeliveriesRequest{PageSize: 3})
	var link string
	s.silently(func() {
		sent := mustCall[*v1.ListOutboxResponse](
			s.recording, s.olga, &v1.ListOutboxRequest{Filter: &v1.DeliveryFilter{MemberId: s.tom.id, Channel: byMail}},
		)
		_, link, _ = strings.Cut(sent.GetMessages()[0].GetMessage().GetText(), "https://berth.example/unsubscribe/")
	})
	link = "https://berth.example/unsubscribe/" + strings.TrimSpace(link)
	s.fetch(http.MethodGet, "Tom opens the link of a mail", link)
	s.fetch(http.MethodPost, "Tom unsubscribes", link)
	s.fetch(http.MethodPost, "Tom unsubscribes with a forged link", "https://berth.example/unsubscribe/forged")
	s.record(s.tom, "Tom reads his preferences", &v1.GetPreferencesRequest{})
	s.record(s.tom, "Tom books what he hears nothing of", &v1.BookRequest{SessionId: s.class("quiet", on(13, "18:00"))})
	s.startAt(on(7, "17:35"))
}

func recordDeliveries(s *studio) {
	page := recordResponse[*v1.ListDeliveriesResponse](s.recording, s.adam, "The admin lists two deliveries to Tom",
		&v1.ListDeliveriesRequest{
			Filter: &v1.DeliveryFilter{MemberId: s.tom.id, TimeRange: between(on(5, "00:00"), on(5, "11:00"))}, PageSize: 2,
		})
	s.record(s.adam, "The admin lists the next two", &v1.ListDeliveriesRequest{
		Filter: &v1.DeliveryFilter{MemberId: s.tom.id, TimeRange: between(on(5, "00:00"), on(5, "11:00"))}, PageSize: 2,
		PageToken: page.GetNextPageToken(),
	})
	s.record(
		s.adam, "The admin lists the outbox of offers",
		&v1.ListOutboxRequest{
			Filter: &v1.DeliveryFilter{Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_OFFER, Channel: bySMS},
		},
	)
	s.recordError(s.cora, "The coach lists deliveries", "PERMISSION_DENIED", &v1.ListDeliveriesRequest{})
	s.recordError(s.cora, "The coach lists the outbox", "PERMISSION_DENIED", &v1.ListOutboxRequest{})
}
