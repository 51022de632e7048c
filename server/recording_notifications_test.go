package main

import (
	"net/http"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

const (
	bySMS  = v1.NotificationChannel_NOTIFICATION_CHANNEL_SMS
	byPush = v1.NotificationChannel_NOTIFICATION_CHANNEL_PUSH
	byMail = v1.NotificationChannel_NOTIFICATION_CHANNEL_EMAIL
)

// Preferences, settings, templates and senders, and messages of every topic with their full texts.
func notificationsScript() script {
	return script{
		do(func(r *recording) { r.wholeMessages = true }),
		preferencesScript(),
		settingsScript(),
		templatesScript(),
		sendersScript(),
		messagesScript(),
		quietHoursScript(),
		deliveriesScript(),
	}
}

func hoursFrom(start, end int32) *v1.QuietHours {
	return &v1.QuietHours{Start: timeOfDay(start, 0), End: timeOfDay(end, 0)}
}

func preferencesScript() script {
	choose := func(
		quiet *v1.QuietHours, chosen ...*v1.NotificationPreferenceInput,
	) *v1.UpdateNotificationPreferencesRequest {
		return &v1.UpdateNotificationPreferencesRequest{
			Preferences: &v1.NotificationPreferencesInput{Preferences: chosen, QuietHours: quiet},
			UpdateMask:  paths("preferences", "quiet_hours"),
		}
	}
	cancelled := &v1.NotificationPreferenceInput{
		Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_BOOKING_CANCELLED, Channel: bySMS, Enabled: true,
	}
	return script{
		mia.calls("Mia reads her preferences", &v1.GetNotificationPreferencesRequest{}),
		cora.calls("The coach reads Mia's preferences", &v1.GetNotificationPreferencesRequest{MemberId: "$mia"}),
		tom.refused(
			"Tom reads Mia's preferences",
			"MEMBER_NOT_FOUND",
			&v1.GetNotificationPreferencesRequest{MemberId: "$mia"},
		),
		cora.refused("The coach reads the preferences of an unknown member", "MEMBER_NOT_FOUND",
			&v1.GetNotificationPreferencesRequest{MemberId: absentID}),
		mia.calls("Mia wants to hear of cancellations by SMS", choose(hoursFrom(23, 6), cancelled)),
		mia.calls("Mia has the tenant's quiet hours", choose(nil)),
		mia.refused("Mia chooses twice", "INVALID_FIELD", choose(nil, cancelled, cancelled)),
		mia.refused("Mia's quiet hours have seconds", "INVALID_FIELD",
			choose(&v1.QuietHours{Start: &timeofday.TimeOfDay{Hours: 22, Seconds: 5}, End: timeOfDay(6, 0)})),
		mia.calls("Mia opens a calendar feed", &v1.CreateCalendarFeedRequest{}).as("feed"),
		class("calendar", on(20, "18:00")),
		mia.books("$calendar"),
		fetch(http.MethodGet, "A stranger reads Mia's calendar", "$feed.url"),
		mia.calls("Mia closes her calendar feed", &v1.DeleteCalendarFeedRequest{}),
		mia.calls("Mia closes it again", &v1.DeleteCalendarFeedRequest{}),
		fetch(http.MethodGet, "A stranger reads Mia's closed calendar", "$feed.url"),
	}
}

// fetch requests a page and records the response, without the content of HTML pages.
func fetch(method, title, url string) do {
	return func(r *recording) {
		r.t.Helper()
		url = r.expand(url)
		answer, body := r.request(anonymous, method, strings.TrimPrefix(url, "https://berth.example"), nil)
		kind, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
		r.printf("--- %s\n%s %s\n← %s %s\n", title, method, r.names.normalizeText(url, "", ""), answer.Status, kind)
		if kind == "text/calendar" {
			r.printf("%s\n", render(r.names.normalize(string(body), "", ""), ""))
		}
		r.printf("\n")
		r.settle()
	}
}

func settingsScript() script {
	edit := &v1.UpdateNotificationSettingsRequest{
		Settings: &v1.NotificationSettingsInput{
			QuietHours: hoursFrom(21, 7), SmsPerDay: new(int32(3)), ReplyTo: "desk@harbour.example", SenderName: "Harbour",
			CreditsLowAt: new(int32(2)), Locale: "en",
			Reminders: []*durationpb.Duration{durationpb.New(48 * time.Hour), durationpb.New(30 * time.Minute)},
		},
		Etag:       "v0",
		UpdateMask: paths("quiet_hours", "sms_per_day", "reply_to", "sender_name", "credits_low_at", "locale", "reminders"),
	}
	return script{
		adam.calls("The admin reads the settings", &v1.GetNotificationSettingsRequest{}),
		cora.refused("The coach reads the settings", "PERMISSION_DENIED", &v1.GetNotificationSettingsRequest{}),
		adam.calls("The admin edits the settings", edit),
		adam.refused("The admin edits settings that have changed", "ETAG_MISMATCH", edit),
		adam.refused("The admin's language is none", "INVALID_FIELD",
			&v1.UpdateNotificationSettingsRequest{
				Settings: &v1.NotificationSettingsInput{Locale: "xx"}, UpdateMask: paths("locale"),
			}),
	}
}

func templatesScript() script {
	own := &v1.NotificationTemplateInput{Subject: "Réservé : {{.Title}}", Body: "{{.When}}, {{upper .Title}}."}
	wrong := &v1.NotificationTemplateInput{Subject: "Réservé", Body: "Bonjour\n{{.Nobody}}"}
	const topic = v1.NotificationTopic_NOTIFICATION_TOPIC_BOOKING_CONFIRMED
	get := &v1.GetNotificationTemplateRequest{Topic: topic, Channel: byMail, Locale: "fr"}
	update := func(input *v1.NotificationTemplateInput) *v1.UpdateNotificationTemplateRequest {
		return &v1.UpdateNotificationTemplateRequest{Topic: topic, Channel: byMail, Locale: "fr", Template: input}
	}
	preview := func(input *v1.NotificationTemplateInput) *v1.PreviewNotificationTemplateRequest {
		return &v1.PreviewNotificationTemplateRequest{Topic: topic, Channel: byMail, Locale: "fr", Template: input}
	}
	test := &v1.SendTestNotificationRequest{
		Topic:   v1.NotificationTopic_NOTIFICATION_TOPIC_REMINDER,
		Channel: byMail,
		Locale:  "de",
	}
	return script{
		adam.calls("The admin lists templates in English", &v1.ListNotificationTemplatesRequest{
			Filter: &v1.NotificationTemplateFilter{Locale: "en"},
		}),
		adam.calls("The admin lists templates of offers in German", &v1.ListNotificationTemplatesRequest{
			Filter: &v1.NotificationTemplateFilter{Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_OFFER, Locale: "de"},
		}),
		adam.calls("The admin reads the default in French", get),
		adam.refused("The admin reads a wording in Welsh", "TEMPLATE_NOT_FOUND",
			with(get, &v1.GetNotificationTemplateRequest{Locale: "cy"})),
		cora.refused("The coach reads a wording", "PERMISSION_DENIED", get),
		adam.calls("The admin has a wording in French", update(own)),
		adam.calls("The admin reads it", get),
		adam.calls("The admin previews it", preview(own)),
		adam.refused("The admin has HTML and no mail account", "TEMPLATE_HTML",
			update(with(own, &v1.NotificationTemplateInput{Html: "<p>{{.Title}}</p>"}))),
		adam.refused("The admin's wording names what is not there", "TEMPLATE_INVALID",
			update(wrong)),
		adam.refused("The admin previews what is not there", "TEMPLATE_INVALID",
			preview(wrong)),
		adam.refused("The admin edits a wording that has changed", "ETAG_MISMATCH",
			with(update(own), &v1.UpdateNotificationTemplateRequest{Etag: "v0"})),
		adam.calls("The admin goes back to the default",
			&v1.ResetNotificationTemplateRequest{Topic: topic, Channel: byMail, Locale: "fr"}),
		cora.refused("The coach edits a wording", "PERMISSION_DENIED", update(own)),
		adam.calls(
			"The admin previews the default push",
			&v1.PreviewNotificationTemplateRequest{
				Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_REMINDER, Channel: byPush, Locale: "de",
			},
		),
		olga.calls("The owner sends herself an example, unconfirmed", test),
		code("$olga", byMail),
		olga.calls("The owner confirms her email",
			&v1.ConfirmContactRequest{Kind: v1.ContactKind_CONTACT_KIND_EMAIL, Code: "$code"}),
		olga.calls("The owner sends herself an example", test),
		olga.refused(
			"The owner has no device",
			"RECIPIENT_UNREACHABLE",
			with(test, &v1.SendTestNotificationRequest{Channel: byPush}),
		),
	}
}

func sendersScript() script {
	update := func(senders *v1.NotificationSendersInput, names ...string) *v1.UpdateNotificationSendersRequest {
		return &v1.UpdateNotificationSendersRequest{Senders: senders, UpdateMask: paths(names...)}
	}
	twilio := &v1.TwilioSenderInput{
		AccountSid: "AC" + strings.Repeat("0", 32), AuthToken: "token", Sender: "+493012345678",
	}
	return script{
		clock(on(5, "10:10")),
		adam.calls("The admin reads who carries messages", &v1.GetNotificationSendersRequest{}),
		olga.calls("The owner has a number", update(&v1.NotificationSendersInput{Twilio: twilio}, "twilio")),
		olga.refused("The owner's other number lacks its secret", "INVALID_FIELD", update(
			&v1.NotificationSendersInput{
				Twilio: &v1.TwilioSenderInput{AccountSid: "AC" + strings.Repeat("1", 32), Sender: "+493012345678"},
			},
			"twilio",
		)),
		olga.refused("The owner's key file is none", "INVALID_FIELD",
			update(&v1.NotificationSendersInput{
				Fcm: &v1.FcmSenderInput{ProjectId: "p", ServiceAccountJson: []byte("none")},
			}, "fcm")),
		olga.refused(
			"The owner edits senders that have changed",
			"ETAG_MISMATCH",
			with(update(new(v1.NotificationSendersInput), "smtp"), &v1.UpdateNotificationSendersRequest{Etag: "v0"}),
		),
		adam.refused(
			"The admin connects a number",
			"PERMISSION_DENIED",
			update(&v1.NotificationSendersInput{Twilio: twilio}, "twilio"),
		),
		olga.calls("The owner has no number any more", update(&v1.NotificationSendersInput{}, "twilio")),
		cora.refused("The coach reads who carries messages", "PERMISSION_DENIED", &v1.GetNotificationSendersRequest{}),
		sendingDomainScript(),
		adam.calls("The admin reads quotas, of which the local outbox has none", &v1.ListSendingQuotasRequest{}),
		cora.refused("The coach reads quotas", "PERMISSION_DENIED", &v1.ListSendingQuotasRequest{}),
	}
}

// sendingDomainScript verifies a domain from which mails come.
func sendingDomainScript() script {
	set := func(address string) *v1.UpdateNotificationSendersRequest {
		return &v1.UpdateNotificationSendersRequest{
			Senders:    &v1.NotificationSendersInput{Domain: &v1.SendingDomainInput{FromAddress: address}},
			UpdateMask: paths("domain"),
		}
	}
	verify := new(v1.VerifySendingDomainRequest)
	const proof, key = "$domain.senders.domain.records.0", "$domain.senders.domain.records.1"
	publish := func(record, text string) do {
		return func(r *recording) { r.dns.Set(r.expand(record+".name"), r.expand(text)) }
	}
	breakDNS := func(broken bool) do { return func(r *recording) { r.dns.Break(broken) } }
	return script{
		olga.refused("The owner verifies no domain", "SENDING_DOMAIN_NOT_FOUND", verify),
		olga.refused("The owner sends from a private domain", "SENDING_DOMAIN_INVALID", set("hello@studio.internal")),
		adam.refused("The admin sends from a domain", "PERMISSION_DENIED", set("hello@studio.com")),
		olga.calls("The owner sends from a domain", set("hello@studio.com")).as("domain"),
		olga.refused("The owner verifies it too soon", "DNS_RECORD_MISSING", verify),
		breakDNS(true),
		olga.refused("The owner verifies it while its name servers fail", "DNS_UNAVAILABLE", verify),
		breakDNS(false),
		publish(proof, proof+".value"),
		publish(key, "v=DKIM1; p="),
		olga.refused("The owner verifies it with another key", "DNS_RECORD_DIFFERENT", verify),
		publish(key, key+".value"),
		adam.refused("The admin verifies it", "PERMISSION_DENIED", verify),
		olga.calls("The owner verifies it", verify),
		olga.calls("The owner sends from the platform's address", &v1.UpdateNotificationSendersRequest{
			Senders: new(v1.NotificationSendersInput), UpdateMask: paths("domain"),
		}),
	}
}

// messagesScript causes messages of all topics, to people with different channels and languages.
func messagesScript() script {
	return script{
		clock(on(5, "10:20")),
		newMember(&v1.MemberInput{
			Subject: "pierre", Name: "Pierre Membre", Email: "pierre@example.com", Phone: "+33612345678", Locale: "fr",
		}),
		mia.silently(&v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_IOS, Token: "phone"}),
		olga.silently(&v1.UpdateWaitlistRulesRequest{
			Rules: &v1.WaitlistRules{
				Mode: new(v1.WaitlistMode_WAITLIST_MODE_OFFER), OfferWindow: durationpb.New(44 * time.Minute),
			}, UpdateMask: paths("mode", "offer_window"),
		}),
		class("evening", on(7, "18:00"), &v1.SessionInput{
			CoachId: "$cora", ResourceId: "$room", WaitlistCapacity: new(int32(5)),
		}),
		mia.calls("Mia books", &v1.BookRequest{SessionId: "$evening"}).as("mias"),
		caller("pierre").calls("Pierre books", &v1.BookRequest{SessionId: "$evening"}),
		lena.calls("Lena waits", &v1.BookRequest{SessionId: "$evening"}),
		tom.calls("Tom waits", &v1.BookRequest{SessionId: "$evening"}),
		mia.calls("Mia cancels", &v1.CancelBookingRequest{BookingId: "$mias.booking.id"}),
		clock(on(5, "10:55")),
		liveOffer("$evening").as("offer"),
		lena.calls("Lena declines", &v1.DeclineWaitlistOfferRequest{OfferId: "$offer.offers.0.id"}),
		liveOffer("$evening").as("offer"),
		tom.calls("Tom accepts", &v1.AcceptWaitlistOfferRequest{OfferId: "$offer.offers.0.id"}),
		adam.calls("The admin moves the session", &v1.UpdateSessionRequest{
			SessionId: "$evening", Session: &v1.SessionInput{ResourceId: "$annex"}, UpdateMask: paths("resource_id"),
		}),
		class("other", on(8, "18:00")),
		mia.calls("Mia books another", &v1.BookRequest{SessionId: "$other"}),
		adam.calls("The admin cancels it", &v1.CancelSessionRequest{SessionId: "$other", Reason: "The coach is ill."}),
		olga.silently(&v1.CreatePlanRequest{Plan: &v1.PlanInput{
			Name: "Pack", Kind: v1.PlanKind_PLAN_KIND_CREDITS, Credits: 3,
		}}).as("plan"),
		subscribe("$mia", "$plan.plan.id"),
		class("paid", on(9, "18:00")),
		mia.calls("Mia spends a credit", &v1.BookRequest{SessionId: "$paid"}),
		fullSession("pair", 10, "18:00"),
		noah.calls("Noah waits for two", &v1.BookRequest{SessionId: "$pair", PartySize: new(int32(2))}),
		zoe.calls("Zoe frees one", &v1.CancelBookingRequest{BookingId: "$pair-seat.booking.id"}),
	}
}

// quietHoursScript records which messages wait for the morning, due reminders, and unsubscribing.
func quietHoursScript() script {
	const link = "https://berth.example/unsubscribe/$link"
	return script{
		tom.silently(&v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_ANDROID, Token: "tablet"}).as("tablet"),
		clock(on(5, "22:00")),
		class("late", on(12, "18:00"), capacity(5)),
		tom.calls("Tom books at night", &v1.BookRequest{SessionId: "$late"}),
		adam.calls("The admin sees which messages wait", &v1.ListNotificationDeliveriesRequest{
			Filter: &v1.NotificationDeliveryFilter{
				Statuses: []v1.NotificationDeliveryStatus{v1.NotificationDeliveryStatus_NOTIFICATION_DELIVERY_STATUS_DEFERRED},
			},
		}),
		clock(on(6, "07:30")),
		adam.calls("The admin sees that they left in the morning", &v1.ListNotificationDeliveriesRequest{PageSize: 3}),
		tom.silently(&v1.UnregisterDeviceRequest{DeviceId: "$tablet.device.id"}),
		olga.silently(&v1.ListNotificationOutboxRequest{
			Filter: &v1.NotificationDeliveryFilter{MemberId: "$tom", Channel: byMail},
		}).finding("link", `https://berth\.example/unsubscribe/([A-Za-z0-9_.-]+)`),
		fetch(http.MethodGet, "Tom opens the link of a mail", link),
		fetch(http.MethodPost, "Tom unsubscribes", link),
		fetch(http.MethodPost, "Tom unsubscribes with a forged link", "https://berth.example/unsubscribe/forged"),
		tom.calls("Tom reads his preferences", &v1.GetNotificationPreferencesRequest{}),
		class("quiet", on(13, "18:00")),
		tom.calls("Tom books what he hears nothing of", &v1.BookRequest{SessionId: "$quiet"}),
		clock(on(7, "17:35")),
	}
}

func deliveriesScript() script {
	return script{
		adam.calls("The admin lists two deliveries to Tom", &v1.ListNotificationDeliveriesRequest{
			Filter: &v1.NotificationDeliveryFilter{
				MemberId:      "$tom",
				CreatedWithin: between(on(5, "00:00"), on(5, "11:00")),
			},
			PageSize: 2,
		}).as("page"),
		adam.calls("The admin reads one",
			&v1.GetNotificationDeliveryRequest{NotificationDeliveryId: "$page.deliveries.0.id"}),
		adam.refused("The admin reads none", "DELIVERY_NOT_FOUND",
			&v1.GetNotificationDeliveryRequest{NotificationDeliveryId: "$tom"}),
		cora.refused("The coach reads one", "PERMISSION_DENIED",
			&v1.GetNotificationDeliveryRequest{NotificationDeliveryId: "$page.deliveries.0.id"}),
		adam.calls("The admin lists the next two", &v1.ListNotificationDeliveriesRequest{
			Filter: &v1.NotificationDeliveryFilter{
				MemberId:      "$tom",
				CreatedWithin: between(on(5, "00:00"), on(5, "11:00")),
			},
			PageSize:  2,
			PageToken: "$page.nextPageToken",
		}),
		adam.calls("The admin lists the outbox of offers", &v1.ListNotificationOutboxRequest{
			Filter: &v1.NotificationDeliveryFilter{Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_OFFER, Channel: bySMS},
		}),
		cora.refused("The coach lists deliveries", "PERMISSION_DENIED", &v1.ListNotificationDeliveriesRequest{}),
		cora.refused("The coach lists the outbox", "PERMISSION_DENIED", &v1.ListNotificationOutboxRequest{}),
	}
}
