package messageapi

import (
	"slices"
	"time"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/sending"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	topicPrefix          = "NOTIFICATION_TOPIC_"
	channelPrefix        = "NOTIFICATION_CHANNEL_"
	reasonPrefix         = "NOTIFICATION_REASON_"
	deliveryStatusPrefix = "NOTIFICATION_DELIVERY_STATUS_"
)

func topicMessage(t notify.Topic) v1.NotificationTopic {
	return convert.Enum[v1.NotificationTopic](v1.NotificationTopic_value, topicPrefix, t)
}

func channelMessage(c delivery.Channel) v1.NotificationChannel {
	return convert.Enum[v1.NotificationChannel](v1.NotificationChannel_value, channelPrefix, c)
}

func reasonMessage(r notify.Reason) v1.NotificationReason {
	return convert.Enum[v1.NotificationReason](v1.NotificationReason_value, reasonPrefix, r)
}

func preferencesMessage(p messages.NotificationPreferences) *v1.NotificationPreferences {
	m := &v1.NotificationPreferences{HasCalendarFeed: p.HasFeed, Etag: convert.Etag(p.Version)}
	for _, c := range p.Chosen.All() {
		m.Preferences = append(m.Preferences, &v1.NotificationPreference{
			Topic: topicMessage(c.Topic), Channel: channelMessage(c.Channel), Enabled: c.Enabled, IsDefault: c.IsDefault,
		})
	}
	if p.Quiet != nil {
		m.QuietHours = quietHoursMessage(*p.Quiet)
	}
	for _, s := range p.Stops {
		m.Stops = append(
			m.Stops,
			&v1.NotificationStop{
				Channel: channelMessage(s.Channel), Reason: reasonMessage(s.Reason), CreateTime: convert.Timestamp(s.At),
			},
		)
	}
	return m
}

func quietHoursMessage(q notify.QuietHours) *v1.QuietHours {
	return &v1.QuietHours{Start: convert.TimeOfDayMessage(q.Start), End: convert.TimeOfDayMessage(q.End)}
}

// quietHoursValue returns nil for nil.
func quietHoursValue(m *v1.QuietHours) *notify.QuietHours {
	if m == nil {
		return nil
	}
	return &notify.QuietHours{Start: convert.TimeOfDayValue(m.GetStart()), End: convert.TimeOfDayValue(m.GetEnd())}
}

func settingsMessage(s notify.Settings) *v1.NotificationSettings {
	m := &v1.NotificationSettings{
		QuietHours: quietHoursMessage(s.QuietHours),
		SmsPerDay:  int32(s.PerDay[delivery.SMS]), PushPerDay: int32(s.PerDay[delivery.Push]),
		EmailPerDay: int32(s.PerDay[delivery.Email]),
		ReplyTo:     s.ReplyTo, SenderName: s.SenderName, CreditsLowAt: int32(s.CreditsLowAt), Locale: s.Locale,
		PhoneCountries: s.PhoneCountries, Etag: convert.Etag(s.Version),
	}
	for _, d := range s.Reminders {
		m.Reminders = append(m.Reminders, convert.DurationMessage(d))
	}
	return m
}

// editSettings returns an edit that applies the fields named by an update mask.
func editSettings(sent *v1.NotificationSettingsInput, paths []string) func(*notify.Settings) {
	initial := notify.DefaultSettings()
	perDay := func(s *notify.Settings, c delivery.Channel, limit *int32) func() {
		return func() { s.PerDay[c] = orInitial(limit, initial.PerDay[c]) }
	}
	return func(s *notify.Settings) {
		convert.Fields{
			"quiet_hours": func() {
				s.QuietHours = notify.QuietHours{}
				if q := quietHoursValue(sent.GetQuietHours()); q != nil {
					s.QuietHours = *q
				}
			},
			"sms_per_day":   perDay(s, delivery.SMS, sent.SmsPerDay),
			"push_per_day":  perDay(s, delivery.Push, sent.PushPerDay),
			"email_per_day": perDay(s, delivery.Email, sent.EmailPerDay),
			"reminders": func() {
				s.Reminders = make([]time.Duration, 0, len(sent.GetReminders()))
				for _, d := range sent.GetReminders() {
					s.Reminders = append(s.Reminders, d.AsDuration())
				}
			},
			"reply_to":        convert.Field(&s.ReplyTo, sent.GetReplyTo()),
			"sender_name":     convert.Field(&s.SenderName, sent.GetSenderName()),
			"credits_low_at":  convert.Field(&s.CreditsLowAt, orInitial(sent.CreditsLowAt, initial.CreditsLowAt)),
			"locale":          convert.Field(&s.Locale, sent.GetLocale()),
			"phone_countries": convert.Field(&s.PhoneCountries, sent.GetPhoneCountries()),
		}.Set(paths)
	}
}

// orInitial returns the number that was sent, or else the initial one.
func orInitial(sent *int32, initial int) int {
	if sent == nil {
		return initial
	}
	return int(*sent)
}

// templateKey is a request that names a template.
type templateKey interface {
	GetTopic() v1.NotificationTopic
	GetChannel() v1.NotificationChannel
	GetLocale() string
}

func templateQueryValue(key templateKey) messages.TemplateQuery {
	return messages.TemplateQuery{
		Topic:   convert.EnumName[notify.Topic](topicPrefix, key.GetTopic()),
		Channel: convert.EnumName[delivery.Channel](channelPrefix, key.GetChannel()),
		Locale:  key.GetLocale(),
	}
}

func templateValue(key templateKey, m *v1.NotificationTemplateInput) content.Template {
	at := templateQueryValue(key)
	return content.Template{
		Topic: at.Topic, Channel: at.Channel, Locale: at.Locale,
		Subject: m.GetSubject(), Body: m.GetBody(), HTML: m.GetHtml(),
	}
}

func templateMessage(t messages.Template) *v1.NotificationTemplate {
	m := &v1.NotificationTemplate{
		Topic: topicMessage(t.Topic), Channel: channelMessage(t.Channel), Locale: t.Locale, Subject: t.Subject, Body: t.Body,
		Html:      t.HTML,
		IsDefault: t.Version == 0, Etag: convert.Etag(t.Version), UpdateTime: convert.Timestamp(t.UpdatedAt),
	}
	for _, v := range content.DescribeVariables(t.Topic, t.Locale) {
		m.Variables = append(
			m.Variables,
			&v1.NotificationTemplateVariable{Name: v.Name, Description: v.Description, Example: v.Example},
		)
	}
	return m
}

func renderedMessage(c delivery.Channel, r content.Rendered) *v1.RenderedMessage {
	m := &v1.RenderedMessage{
		Channel: channelMessage(c), Subject: r.Subject, Text: r.Text, Html: r.HTML, Link: r.Link, Calendar: r.Calendar,
	}
	if c == delivery.SMS {
		m.Segments, m.Gsm7 = new(int32(r.Segments)), new(r.GSM7)
	}
	return m
}

func deliveryMessages(deliveries []messages.Delivery) []*v1.NotificationDelivery {
	messages := make([]*v1.NotificationDelivery, len(deliveries))
	for i, d := range deliveries {
		messages[i] = deliveryMessage(d)
	}
	return messages
}

// absentIfZero returns a number that counts from 1, if there is one.
func absentIfZero(n int) *int32 {
	if n == 0 {
		return nil
	}
	return new(int32(n))
}

func deliveryMessage(d messages.Delivery) *v1.NotificationDelivery {
	return &v1.NotificationDelivery{
		Id:       convert.IDText(d.ID),
		NoticeId: convert.IDText(d.Notice),
		Topic:    topicMessage(d.Topic),
		Channel:  channelMessage(d.Channel),
		Status: convert.Enum[v1.NotificationDeliveryStatus](
			v1.NotificationDeliveryStatus_value,
			deliveryStatusPrefix,
			d.Status,
		),
		Reason:            reasonMessage(d.Reason),
		MemberId:          convert.IDText(d.Member),
		RecipientName:     d.RecipientName,
		Address:           delivery.Mask(d.Channel, d.Address),
		BookingId:         convert.IDText(d.Booking),
		OfferId:           convert.IDText(d.Offer),
		SessionId:         convert.IDText(d.Session),
		Provider:          d.Provider,
		ProviderId:        d.ProviderID,
		ErrorCode:         d.ErrorCode,
		ErrorMessage:      d.ErrorMessage,
		Segments:          absentIfZero(d.Segments),
		Attempt:           absentIfZero(d.Attempt),
		PossibleDuplicate: d.PossibleDuplicate,
		RetryTime:         convert.Timestamp(d.RetryAt),
		CreateTime:        convert.Timestamp(d.CreatedAt),
		UpdateTime:        convert.Timestamp(d.UpdatedAt),
	}
}

func deliveryQueryValue(f *v1.NotificationDeliveryFilter) messages.DeliveryQuery {
	q := messages.DeliveryQuery{
		Member: convert.ID[tenant.MemberID](f.GetMemberId()), Booking: convert.ID[tenant.BookingID](f.GetBookingId()),
		Offer:   convert.ID[tenant.OfferID](f.GetOfferId()),
		Channel: convert.EnumName[delivery.Channel](channelPrefix, f.GetChannel()),
		Topic:   convert.EnumName[notify.Topic](topicPrefix, f.GetTopic()),
		From:    convert.Time(f.GetCreatedWithin().GetStart()), Until: convert.Time(f.GetCreatedWithin().GetEnd()),
	}
	for _, s := range f.GetStatuses() {
		q.Statuses = append(q.Statuses, convert.EnumName[delivery.Status](deliveryStatusPrefix, s))
	}
	return q
}

func sendersMessage(s messages.Senders) *v1.NotificationSenders {
	m := &v1.NotificationSenders{Etag: convert.Etag(s.Version)}
	if s.Twilio != nil {
		m.Twilio = &v1.TwilioSender{AccountSid: s.Twilio.AccountSID, Sender: s.Twilio.From}
	}
	if s.FCM != nil {
		m.Fcm = &v1.FcmSender{ProjectId: s.FCM.ProjectID}
	}
	if s.SMTP != nil {
		m.Smtp = &v1.SmtpSender{
			Host: s.SMTP.Host, Port: int32(s.SMTP.Port), Username: s.SMTP.Username, FromAddress: s.SMTP.From,
		}
	}
	if d := s.Domain; d != nil {
		m.Domain = &v1.SendingDomain{
			FromAddress: d.Address, VerifyTime: convert.Timestamp(d.VerifiedAt), MissingTime: convert.Timestamp(d.MissingSince),
		}
		for _, r := range d.Records() {
			m.Domain.Records = append(m.Domain.Records, &v1.DnsRecord{Name: r.Name, Value: r.Value})
		}
	}
	return m
}

func quotaMessage(q notify.SendingQuota) *v1.SendingQuota {
	return &v1.SendingQuota{
		Channel: channelMessage(q.Channel), Country: q.Country, Limit: int32(q.Limit), Used: int32(q.Used),
		Waiting: int32(q.Waiting), RoomTime: convert.Timestamp(q.RoomAt), Growth: int32(q.Growth),
	}
}

// editSenders returns an edit that applies the senders named by an update mask. A named sender that is not set is
// removed, so the tenant uses the deployment's instead.
func editSenders(sent *v1.NotificationSendersInput, paths []string) func(*messages.Senders) {
	return func(s *messages.Senders) {
		if slices.Contains(paths, "twilio") {
			s.Twilio = nil
			if t := sent.GetTwilio(); t != nil {
				s.Twilio = &messages.TwilioAccount{AccountSID: t.GetAccountSid(), AuthToken: t.GetAuthToken(), From: t.GetSender()}
			}
		}
		if slices.Contains(paths, "fcm") {
			s.FCM = nil
			if f := sent.GetFcm(); f != nil {
				s.FCM = &messages.FCMProject{ProjectID: f.GetProjectId(), Credentials: f.GetServiceAccountJson()}
			}
		}
		if slices.Contains(paths, "smtp") {
			s.SMTP = nil
			if m := sent.GetSmtp(); m != nil {
				s.SMTP = &messages.SMTPServer{
					Host: m.GetHost(), Port: int(m.GetPort()), Username: m.GetUsername(), Password: m.GetPassword(),
					From: m.GetFromAddress(),
				}
			}
		}
		if slices.Contains(paths, "domain") {
			s.Domain = nil
			if d := sent.GetDomain(); d != nil {
				s.Domain = &sending.Domain{Address: d.GetFromAddress()}
			}
		}
	}
}
