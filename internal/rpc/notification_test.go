package rpc

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The secrets of senders are never readable again: not in responses, not in the table, not in the audit log.
func TestSenders_NeverReturnSecrets(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	const token, password = "5ecd5ecd5ecd5ecd5ecd5ecd5ecd5ecd", "correct horse battery"
	update := func(senders *v1.NotificationSendersInput, paths ...string) (proto.Message, error) {
		return s.call(
			t,
			s.Token(t, "owner"),
			&v1.UpdateNotificationSendersRequest{Senders: senders, UpdateMask: mask(paths...)},
		)
	}
	account := "AC" + strings.Repeat("0a", 16)
	updated := expect.Value(update(&v1.NotificationSendersInput{
		Twilio: &v1.TwilioSenderInput{AccountSid: account, AuthToken: token, Sender: "+493012345678"},
		Smtp: &v1.SmtpSenderInput{
			Host: "mail.example.com", Port: 587, Username: "desk", Password: password, FromAddress: "desk@example.com",
		},
	}, "twilio", "smtp"))(t)
	read := ask[*v1.GetNotificationSendersResponse](t, s, s.Token(t, "owner"), &v1.GetNotificationSendersRequest{})
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
		test.False(t, bytes.Contains(text, []byte(token)), test.Sprintf("%s has a secret", what))
		test.False(t, bytes.Contains(text, []byte(password)), test.Sprintf("%s has a secret", what))
	}
	test.EqOp(t, account, read.GetSenders().GetTwilio().GetAccountSid())
	test.EqOp(t, "mail.example.com", read.GetSenders().GetSmtp().GetHost())
	test.StrContains(t, audited, account)
	// Without a secret, the same account is accepted and another account is rejected: an editor must not be able to
	// send the stored secret to another server.
	refused(t, "INVALID_FIELD")(update(
		&v1.NotificationSendersInput{
			Smtp: &v1.SmtpSenderInput{
				Host: "evil.example.com", Port: 587, Username: "desk", FromAddress: "desk@example.com",
			},
		},
		"smtp",
	))
	expect.OK(t)(update(
		&v1.NotificationSendersInput{
			Smtp: &v1.SmtpSenderInput{
				Host: "mail.example.com", Port: 465, Username: "desk", FromAddress: "desk@example.com",
			},
		},
		"smtp",
	))
}

// An app can send all preferences back that it got. That changes nothing but that they are no defaults any more.
func TestPreferences_CanAllBeSentBack(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	member := s.Token(t, "member")
	read := ask[*v1.GetNotificationPreferencesResponse](
		t, s, member, &v1.GetNotificationPreferencesRequest{},
	).GetPreferences()
	must.SliceLen(t, 42, read.GetPreferences())
	test.EqOp(t, "v0", read.GetEtag())
	all := new(v1.NotificationPreferencesInput)
	for _, p := range read.GetPreferences() {
		all.Preferences = append(all.Preferences, &v1.NotificationPreferenceInput{
			Topic: p.GetTopic(), Channel: p.GetChannel(), Enabled: p.GetEnabled(),
		})
	}
	update := &v1.UpdateNotificationPreferencesRequest{
		Preferences: all, UpdateMask: mask("preferences"), Etag: read.GetEtag(),
	}
	sent := ask[*v1.UpdateNotificationPreferencesResponse](t, s, member, update).GetPreferences()
	test.EqOp(t, "v1", sent.GetEtag())
	refused(t, "ETAG_MISMATCH")(s.call(t, member, update))
	for i, p := range read.GetPreferences() {
		p.IsDefault = false
		test.True(t, proto.Equal(p, sent.GetPreferences()[i]), test.Sprint(p, sent.GetPreferences()[i]))
	}
	// What is about a code or an account's limits cannot be chosen, or worded.
	for topic := range v1.NotificationTopic_name {
		chosen := func(p *v1.NotificationPreference) bool { return topic == int32(p.GetTopic()) }
		if topic > 0 && !slices.ContainsFunc(read.GetPreferences(), chosen) {
			refused(t, "INVALID_FIELD", test.Sprint(topic))(s.call(t, member, &v1.UpdateNotificationPreferencesRequest{
				Preferences: &v1.NotificationPreferencesInput{Preferences: []*v1.NotificationPreferenceInput{{
					Topic: v1.NotificationTopic(topic), Channel: v1.NotificationChannel_NOTIFICATION_CHANNEL_EMAIL,
				}}},
				UpdateMask: mask("preferences"),
			}))
		}
	}
}
