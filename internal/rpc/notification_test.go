package rpc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// notificationTest is a test server with a client of its NotificationService and the owner's token.
type notificationTest struct {
	*testServer
	berthv1connect.NotificationServiceClient
	owner string
}

func newNotificationTest(t *testing.T) *notificationTest {
	t.Helper()
	keys, err := seal.NewKeys([]byte("a key for tests that is 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, func(c *app.Config) { c.Seals = keys })
	return &notificationTest{s, berthv1connect.NewNotificationServiceClient(s.Client, s.URL), s.Token(t, "owner")}
}

const (
	reminders = v1.NotificationTopic_NOTIFICATION_TOPIC_REMINDER
	byEmail   = v1.NotificationChannel_NOTIFICATION_CHANNEL_EMAIL
	bySMS     = v1.NotificationChannel_NOTIFICATION_CHANNEL_SMS
)

// A template that does not compile is rejected with the position of the error, by updates and by previews.
func TestUpdateTemplate_RejectsErrorsWithPosition(t *testing.T) {
	t.Parallel()
	s := newNotificationTest(t)
	template := func(set func(*v1.NotificationTemplate)) *v1.NotificationTemplate {
		m := &v1.NotificationTemplate{
			Topic: reminders, Channel: byEmail, Locale: "en", Subject: "{{.Title}}", Body: "Hello {{.Name}}",
		}
		set(m)
		return m
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
			template(func(m *v1.NotificationTemplate) { m.Body = "Hello {{.Name" }), at("body", "1", "7"),
		},
		"on the third line": {
			template(func(m *v1.NotificationTemplate) { m.Body = "Hello\n\n  {{.Nickname}}, see you" }), at("body", "3", "5"),
		},
		"in the subject": {
			template(func(m *v1.NotificationTemplate) { m.Subject = "{{.Title}} {{frobnicate .Title}}" }),
			at("subject", "1", "12"),
		},
		"in the HTML": {
			template(func(m *v1.NotificationTemplate) { m.Html = "<p>\n{{.Code}}</p>" }), at("html", "2", "3"),
		},
		"a loop": {
			template(func(m *v1.NotificationTemplate) { m.Body = "{{range .Name}}x{{end}}" }), at("body", "1", "9"),
		},
		"a variable of other topics": {
			template(func(m *v1.NotificationTemplate) { m.Body = "{{.ClaimURL}}" }), at("body", "1", "3"),
		},
	} {
		_, updated := s.UpdateTemplate(t.Context(), as(s.owner, &v1.UpdateTemplateRequest{Template: c.sent}))
		_, previewed := s.PreviewTemplate(t.Context(), as(s.owner, &v1.PreviewTemplateRequest{Template: c.sent}))
		for what, err := range map[string]error{"saved": updated, "previewed": previewed} {
			if diff := cmp.Diff(c.want, apiErrorOf(t, err)); diff != "" {
				t.Errorf("%s, %s: %v\n%s", name, what, err, diff)
			}
		}
	}
	request := &v1.ListTemplatesRequest{Topic: reminders, Channel: byEmail, Locale: "en"}
	listed, err := s.ListTemplates(t.Context(), as(s.owner, request))
	if err != nil || len(listed.Msg.GetTemplates()) != 1 || !listed.Msg.GetTemplates()[0].GetIsDefault() {
		t.Fatalf("%v, %v", listed, err)
	}
	good := template(func(m *v1.NotificationTemplate) { m.Body = "Bonjour {{.Name}}, {{.When}}"; m.Locale = "fr" })
	if _, err := s.UpdateTemplate(t.Context(), as(s.owner, &v1.UpdateTemplateRequest{Template: good})); err != nil {
		t.Fatal(err)
	}
	shown, err := s.PreviewTemplate(
		t.Context(),
		as(
			s.owner,
			&v1.PreviewTemplateRequest{Template: &v1.NotificationTemplate{Topic: reminders, Channel: byEmail, Locale: "fr"}},
		),
	)
	if err != nil || !strings.HasPrefix(shown.Msg.GetMessage().GetText(), "Bonjour ") {
		t.Errorf("%v, %v", shown, err)
	}
}

// The delivery log is filtered by member, booking and offer, in pages, and has no deliveries of other tenants.
func TestListDeliveries_FiltersAndPages(t *testing.T) {
	t.Parallel()
	s := newNotificationTest(t)
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
			if _, err := s.DB.Owner.Exec(t.Context(), `
insert into deliveries (tenant_id, id, topic, channel, status, recipient, member_id, booking_id, offer_id, provider,
  provider_id, segments, address, created_at, updated_at)
values ($1, $2, 'REMINDER', 'SMS', 'DELIVERED', $3, $3, $4, $5, 'twilio', $6, 2, '+4915112345678', $7, $7)`,
				in, tenant.New[tenant.DeliveryID](now), members[i%2], booking, offer, fmt.Sprintf("SM%d%d", i, n),
				now); err != nil {
				t.Fatal(err)
			}
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
		var got []string
		for token, more := "", true; more; more = token != "" {
			page, err := s.ListDeliveries(
				t.Context(), as(s.owner, &v1.ListDeliveriesRequest{Filter: c.filter, PageSize: 2, PageToken: token}),
			)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range page.Msg.GetDeliveries() {
				got = append(got, d.GetProviderId())
				if d.GetSegments() != 2 || d.GetStatus() != v1.DeliveryStatus_DELIVERY_STATUS_DELIVERED ||
					d.GetChannel() != bySMS || strings.Contains(d.GetAddress(), "12345") {
					t.Errorf("%v", d)
				}
			}
			token = page.Msg.GetNextPageToken()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The secrets of senders are never readable again: not in responses, not in the table, not in the audit log.
func TestSenders_NeverReturnSecrets(t *testing.T) {
	t.Parallel()
	s := newNotificationTest(t)
	const token, password = "5ecd5ecd5ecd5ecd5ecd5ecd5ecd5ecd", "correct horse battery"
	update := func(senders *v1.Senders, paths ...string) (*connect.Response[v1.UpdateSendersResponse], error) {
		return s.UpdateSenders(
			t.Context(), as(s.owner, &v1.UpdateSendersRequest{Senders: senders, UpdateMask: mask(paths...)}),
		)
	}
	account := "AC" + strings.Repeat("0a", 16)
	updated, err := update(&v1.Senders{
		Twilio: &v1.TwilioSender{AccountSid: account, AuthToken: token, From: "+493012345678"},
		Smtp: &v1.SmtpSender{
			Host: "mail.example.com", Port: 587, Username: "desk", Password: password, FromAddress: "desk@example.com",
		},
	}, "twilio", "smtp")
	if err != nil {
		t.Fatal(err)
	}
	read, err := s.GetSenders(t.Context(), as(s.owner, &v1.GetSendersRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	var sealed []byte
	var audited string
	if err := s.DB.Owner.QueryRow(t.Context(), `
select s.sealed, (select string_agg(a::text, ' ') from audit_entries a where a.tenant_id = s.tenant_id)
from notification_senders s where s.tenant_id = $1`, s.Tenant).
		Scan(&sealed, &audited); err != nil {
		t.Fatal(err)
	}
	answers := make([][]byte, 0, 2)
	for _, m := range []proto.Message{updated.Msg, read.Msg} {
		wire, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, wire)
	}
	for what, text := range map[string][]byte{
		"the answer": answers[0], "what is read": answers[1], "the table": sealed, "the audit log": []byte(audited),
	} {
		if bytes.Contains(text, []byte(token)) || bytes.Contains(text, []byte(password)) {
			t.Errorf("%s has a secret", what)
		}
	}
	if read.Msg.GetSenders().GetTwilio().GetAccountSid() != account ||
		read.Msg.GetSenders().GetSmtp().GetHost() != "mail.example.com" || !strings.Contains(audited, account) {
		t.Errorf("%v, %s", read.Msg, audited)
	}
	// Without a secret, the same account is accepted and another account is rejected: an editor must not be able to
	// send the stored secret to another server.
	if _, err := update(
		&v1.Senders{
			Smtp: &v1.SmtpSender{Host: "evil.example.com", Port: 587, Username: "desk", FromAddress: "desk@example.com"},
		},
		"smtp",
	); apiErrorOf(t, err).Reason != "INVALID_FIELD" {
		t.Errorf("another host takes over the password: %v", err)
	}
	if _, err := update(
		&v1.Senders{
			Smtp: &v1.SmtpSender{Host: "mail.example.com", Port: 465, Username: "desk", FromAddress: "desk@example.com"},
		},
		"smtp",
	); err != nil {
		t.Error(err)
	}
}
