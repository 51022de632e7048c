package printable_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// names has a check of each name that senders, subjects and text messages have, by its field in the contract.
var names = map[string]func(name string) error{
	"settings.sender_name": func(name string) error {
		s := notify.DefaultSettings()
		s.SenderName = name
		_, err := s.Normalize()
		return err
	},
	"tenant.name":   func(name string) error { return catalog.Tenant{Name: name}.Validate() },
	"location.name": func(name string) error { return catalog.Location{Name: name}.Validate() },
	"resource.name": func(name string) error { return catalog.Resource{Name: name}.Validate() },
	"service.name":  func(name string) error { return catalog.Service{Name: name}.Validate() },
	"member.name": func(name string) error {
		_, err := member.Member{Name: name}.Normalize()
		return err
	},
	"contact.name": func(name string) error {
		_, err := booking.CheckBooker(tenant.MemberID{}, true, booking.Contact{Name: name}, booking.Contact{}, "")
		return err
	},
	"item.name":     func(name string) error { return booking.Item{Name: name}.Validate() },
	"provider.name": func(name string) error { return booking.BenefitProvider{Code: "CLUB", Name: name}.Validate() },
	"plan.name":     func(name string) error { return credit.Plan{Name: name}.Validate() },
	"name":          func(name string) error { _, err := session.Workout{Name: name}.Normalize(); return err },
	"role.title": func(name string) error {
		_, err := grant.Role{Name: "desk", Title: name}.Normalize()
		return err
	},
	"template.subject": func(name string) error {
		_, err := content.Template{
			Topic: notify.BookingConfirmed, Channel: delivery.Email, Locale: "en", Subject: name, Body: "Hello",
		}.Check()
		return err
	},
}

func TestNames_ShowAllThatTheyContain(t *testing.T) {
	t.Parallel()
	for field, check := range names {
		for _, name := range []string{
			"Har\u202ebour", "Har\u2028bour", "Har\u2029bour", "Har\u200bbour", "Har\u2066bour", "Har\u200fbour",
			"Har\u200dbour", "Har\ufeffbour",
		} {
			test.EqOp(t, "INVALID_FIELD @"+field, faulttest.Text(check(name)), test.Sprintf("%s %q", field, name))
		}
		for _, name := range []string{"Harbour", "🧘‍♀️ Yoga", "סטודיו"} {
			test.NotEqOp(t, "INVALID_FIELD @"+field, faulttest.Text(check(name)), test.Sprintf("%s %q", field, name))
		}
	}
	for _, field := range []string{"settings.sender_name", "tenant.name"} {
		test.EqOp(t, "INVALID_FIELD @"+field, faulttest.Text(names[field]("Bank support@bank.example")), test.Sprint(field))
	}
}
