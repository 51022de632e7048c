package rpc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const (
	reminders = v1.NotificationTopic_NOTIFICATION_TOPIC_REMINDER
	byEmail   = v1.NotificationChannel_NOTIFICATION_CHANNEL_EMAIL
	bySMS     = v1.NotificationChannel_NOTIFICATION_CHANNEL_SMS
)

// A template that does not compile is rejected with the position of the error, by updates and by previews.
func TestUpdateTemplate_RejectsErrorsWithPosition(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	template := func(changes *v1.NotificationTemplate) *v1.NotificationTemplate {
		return with(&v1.NotificationTemplate{
			Topic: reminders, Channel: byEmail, Locale: "en", Subject: "{{.Title}}", Body: "Hello {{.Name}}",
		}, changes)
	}
	at := func(field, line, column string) apiError {
		return apiError{
			connect.CodeInvalidArgument, "TEMPLATE_INVALID",
			map[string]string{"field": "template." + field, "line": line, "column": column},
		}
	}
	for name, c := range map[string]struct {
		sent *v1.NotificationTemplate
		want apiError
	}{
		"not closed": {
			template(&v1.NotificationTemplate{Body: "Hello {{.Name"}), at("body", "1", "7"),
		},
		"on the third line": {
			template(&v1.NotificationTemplate{Body: "Hello\n\n  {{.Nickname}}, see you"}), at("body", "3", "5"),
		},
		"in the subject": {
			template(&v1.NotificationTemplate{Subject: "{{.Title}} {{frobnicate .Title}}"}),
			at("subject", "1", "12"),
		},
		"in the HTML": {
			template(&v1.NotificationTemplate{Html: "<p>\n{{.Code}}</p>"}), at("html", "2", "3"),
		},
		"a loop": {
			template(&v1.NotificationTemplate{Body: "{{range .Name}}x{{end}}"}), at("body", "1", "9"),
		},
		"a variable of other topics": {
			template(&v1.NotificationTemplate{Body: "{{.ClaimURL}}"}), at("body", "1", "3"),
		},
	} {
		failsAs(t, c.want, test.Sprint(name))(
			s.call(t, s.Token(t, "owner"), &v1.UpdateTemplateRequest{Template: c.sent}),
		)
		failsAs(t, c.want, test.Sprint(name, ", previewed"))(
			s.call(t, s.Token(t, "owner"), &v1.PreviewTemplateRequest{Template: c.sent}),
		)
	}
	request := &v1.ListTemplatesRequest{Topic: reminders, Channel: byEmail, Locale: "en"}
	listed := ask[*v1.ListTemplatesResponse](t, s, s.Token(t, "owner"), request).GetTemplates()
	must.True(t, len(listed) == 1 && listed[0].GetIsDefault(), must.Sprintf("%v", listed))
	good := template(&v1.NotificationTemplate{Body: "Bonjour {{.Name}}, {{.When}}", Locale: "fr"})
	expect.OK(t)(s.call(t, s.Token(t, "owner"), &v1.UpdateTemplateRequest{Template: good}))
	shown := ask[*v1.PreviewTemplateResponse](t, s, s.Token(t, "owner"), &v1.PreviewTemplateRequest{
		Template: &v1.NotificationTemplate{Topic: reminders, Channel: byEmail, Locale: "fr"},
	})
	test.True(t, strings.HasPrefix(shown.GetMessage().GetText(), "Bonjour "), test.Sprintf("%v", shown))
}

// The delivery log is filtered by member, booking and offer, in pages, and has no deliveries of other tenants.
func TestListDeliveries_FiltersAndPages(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	now := time.Now()
	members := []tenant.MemberID{s.Members["owner"], s.Members["member"]}
	var bookings []tenant.BookingID
	var offers []tenant.OfferID
	otherTenant := s.NewTenant(t, "Dock Pilates")
	for i, in := range []tenant.TenantID{s.Tenant, s.Tenant, otherTenant} {
		bookings, offers = append(
			bookings, tenant.New[tenant.BookingID](now),
		), append(offers, tenant.New[tenant.OfferID](now))
		for n := range 3 {
			var booking, offer any
			if n < 2 {
				booking = bookings[i]
			} else {
				offer = offers[i]
			}
			// By SQL, because nothing sends messages here.
			expect.OK(t)(s.DB.Owner.Exec(t.Context(), `
insert into deliveries (tenant_id, id, topic, channel, status, recipient, member_id, booking_id, offer_id, provider,
  provider_id, segments, address, created_at, updated_at)
values ($1, $2, 'REMINDER', 'SMS', 'DELIVERED', $3, $3, $4, $5, 'twilio', $6, 2, '+4915112345678', $7, $7)`,
				in, tenant.New[tenant.DeliveryID](now), members[i%2], booking, offer, fmt.Sprintf("SM%d%d", i, n),
				now.Add(time.Duration(3*i+n)*time.Second)))
		}
	}
	for name, c := range map[string]struct {
		filter *v1.DeliveryFilter
		want   []string
	}{
		"all":                 {nil, []string{"SM12", "SM11", "SM10", "SM02", "SM01", "SM00"}},
		"by member":           {&v1.DeliveryFilter{MemberId: members[1].String()}, []string{"SM12", "SM11", "SM10"}},
		"by booking":          {&v1.DeliveryFilter{BookingId: bookings[0].String()}, []string{"SM01", "SM00"}},
		"by offer":            {&v1.DeliveryFilter{OfferId: offers[1].String()}, []string{"SM12"}},
		"another tenant's":    {&v1.DeliveryFilter{BookingId: bookings[2].String()}, nil},
		"by what they do not": {&v1.DeliveryFilter{MemberId: members[0].String(), OfferId: offers[1].String()}, nil},
	} {
		list := &v1.ListDeliveriesRequest{Filter: c.filter, PageSize: 2}
		test.Eq(t, c.want, s.items(t, s.Token(t, "owner"), list, "provider_id"), test.Sprint(name))
	}
	all := ask[*v1.ListDeliveriesResponse](t, s, s.Token(t, "owner"), &v1.ListDeliveriesRequest{})
	for _, d := range all.GetDeliveries() {
		test.True(
			t, d.GetSegments() == 2 && d.GetStatus() == v1.DeliveryStatus_DELIVERY_STATUS_DELIVERED &&
				d.GetChannel() == bySMS && !strings.Contains(d.GetAddress(), "12345"),
			test.Sprintf("%v", d),
		)
	}
}

// The secrets of senders are never readable again: not in responses, not in the table, not in the audit log.
func TestSenders_NeverReturnSecrets(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	const token, password = "5ecd5ecd5ecd5ecd5ecd5ecd5ecd5ecd", "correct horse battery"
	update := func(senders *v1.Senders, paths ...string) (proto.Message, error) {
		return s.call(t, s.Token(t, "owner"), &v1.UpdateSendersRequest{Senders: senders, UpdateMask: mask(paths...)})
	}
	account := "AC" + strings.Repeat("0a", 16)
	updated := expect.Value(update(&v1.Senders{
		Twilio: &v1.TwilioSender{AccountSid: account, AuthToken: token, From: "+493012345678"},
		Smtp: &v1.SmtpSender{
			Host: "mail.example.com", Port: 587, Username: "desk", Password: password, FromAddress: "desk@example.com",
		},
	}, "twilio", "smtp"))(t)
	read := ask[*v1.GetSendersResponse](t, s, s.Token(t, "owner"), &v1.GetSendersRequest{})
	var sealed []byte
	var audited string
	must.NoError(t, s.DB.Owner.QueryRow(t.Context(), `
select s.sealed, (select string_agg(a::text, ' ') from audit_entries a where a.tenant_id = s.tenant_id)
from notification_senders s where s.tenant_id = $1`, s.Tenant).
		Scan(&sealed, &audited))
	answers := make([][]byte, 0, 2)
	for _, m := range []proto.Message{updated, read} {
		answers = append(answers, expect.Value(proto.Marshal(m))(t))
	}
	for what, text := range map[string][]byte{
		"the answer": answers[0], "what is read": answers[1], "the table": sealed, "the audit log": []byte(audited),
	} {
		test.True(
			t, !bytes.Contains(text, []byte(token)) && !bytes.Contains(text, []byte(password)),
			test.Sprintf("%s has a secret", what),
		)
	}
	test.True(
		t, read.GetSenders().GetTwilio().GetAccountSid() == account &&
			read.GetSenders().GetSmtp().GetHost() == "mail.example.com" && strings.Contains(audited, account),
		test.Sprintf("%v, %s", read, audited),
	)
	// Without a secret, the same account is accepted and another account is rejected: an editor must not be able to
	// send the stored secret to another server.
	refused(t, "INVALID_FIELD")(update(
		&v1.Senders{
			Smtp: &v1.SmtpSender{Host: "evil.example.com", Port: 587, Username: "desk", FromAddress: "desk@example.com"},
		},
		"smtp",
	))
	expect.OK(t)(update(
		&v1.Senders{
			Smtp: &v1.SmtpSender{Host: "mail.example.com", Port: 465, Username: "desk", FromAddress: "desk@example.com"},
		},
		"smtp",
	))
}
