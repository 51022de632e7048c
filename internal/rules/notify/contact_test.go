package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
)

// A code for a new contact, and the news of it to the old one, go to that contact alone. Only the code does not count
// toward the frequency cap.
func TestNoticesForAContact_GoToItAlone(t *testing.T) {
	t.Parallel()
	owner, thing := tenant.MemberID{UUID: tenant.UUID{1}}, tenant.UUID{2}
	ends := monday.Add(10 * time.Minute)
	test.Eq(t, []Notice{{
		Topic: ContactCode, Lane: Alert, Member: owner, Thing: thing, DueAt: monday, At: monday, ExpiresAt: ends,
		Details: Details{To: "+351912345678", Sealed: []byte("sealed")},
	}, {
		Topic: ContactChanged, Lane: Mail, Member: owner, Thing: thing, DueAt: monday, At: monday,
		ExpiresAt: monday.Add(24 * time.Hour), Details: Details{To: "ana@example.com"},
	}, {
		Topic: DomainLapsed, Lane: Mail, Member: owner, Thing: thing, DueAt: monday, At: monday,
		ExpiresAt: monday.Add(7 * 24 * time.Hour), Details: Details{From: "hello@studio.com"},
	}, {
		Topic: QuotaReached, Lane: Mail, Member: owner, Thing: thing, DueAt: monday, At: monday,
		ExpiresAt: monday.Add(7 * 24 * time.Hour), Details: Details{Quota: &SendingAlarm{Used: 600}},
	}}, []Notice{
		NewCode(owner, tenant.CodeID{UUID: thing}, sms, "+351912345678", []byte("sealed"), monday, ends),
		OldContact(owner, thing, email, "ana@example.com", monday),
		NewDomainLapsed(owner, thing, "hello@studio.com", monday),
		NewQuotaReached(owner, thing, SendingAlarm{Used: 600}, monday),
	})
	stopped := map[delivery.Channel]Reason{sms: OptedOut}
	ana := Recipient{Known: true, Phone: "+12125550123", Email: "a@example.com", Devices: []Device{{}}}
	test.Eq(t, []Recipient{
		{Known: true, Phone: "+351912345678", Stopped: stopped}, {Known: true, Email: "ana@example.com", Stopped: stopped},
	}, []Recipient{ana.At(sms, "+351912345678", stopped), ana.At(email, "ana@example.com", stopped)})
}
