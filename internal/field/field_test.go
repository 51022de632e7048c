package field_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/field"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

const space = " "

// emailWays has each way in which an address comes in, and whether it is taken.
var emailWays = map[string]func(t *testing.T, address string) bool{
	"a member": func(_ *testing.T, address string) bool {
		_, err := member.Member{Name: "Ana", Status: member.Active, Email: address}.Normalize()
		return err == nil
	},
	"a file of members": func(t *testing.T, address string) bool {
		t.Helper()
		found, err := member.ParseImport([]byte("name\temail\nAna\t" + address + "\n"))
		must.NoError(t, err)
		return len(found.Problems()) == 0 && found.Rows[0].Member.Email == address
	},
	"the coach in a file of sessions": func(t *testing.T, address string) bool {
		t.Helper()
		found, err := session.ParseImport([]byte("service\tlocation\tdate\tstart\tend\tcoach_email\n" +
			"Flow\tPier\t2026-03-29\t18:00\t19:00\t" + address + "\n"))
		must.NoError(t, err)
		return len(found.Problems()) == 0 && found.Rows[0].CoachEmail == address
	},
	"a guest": func(_ *testing.T, address string) bool {
		guest := booking.Contact{Name: "Ana", Email: address}
		_, err := booking.CheckBooker(tenant.MemberID{}, true, guest, booking.Contact{}, "")
		return err == nil
	},
}

func TestEmail_IsTheSameWhateverTheWayIn(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"maeve@example.com": true, "Maeve.K+gym@mail.example.co.uk": true, "o'brien@example.com": true,
		"maeve\u200b@example.com": false, "maeve@exam\u00adple.com": false, "Maeve <maeve@example.com>": false,
		"maeve@[127.0.0.1]": false, "maeve@example..com": false, "maéve@example.com": false, "maeve": false,
		"maeve@-example.com": false, "a@b": true, "mae..ve@example.com": false, ".maeve@example.com": false,
		"maeve.@example.com": false, "m.a.e@example.com": true,
	} {
		for way, takes := range emailWays {
			test.EqOp(t, want, takes(t, address), test.Sprintf("%s: %q", way, address))
		}
	}
}

// phoneWays has each way in which a phone number comes in with its country code, and whether it is taken.
var phoneWays = map[string]func(number string) bool{
	"a member": func(number string) bool {
		_, err := member.Member{Name: "Ana", Status: member.Active, Phone: number}.Normalize()
		return err == nil
	},
	"a guest": func(number string) bool {
		guest := booking.Contact{Name: "Ana", Phone: number}
		_, err := booking.CheckBooker(tenant.MemberID{}, true, guest, booking.Contact{}, "")
		return err == nil
	},
}

func TestPhone_IsTheSameWhateverTheWayIn(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]bool{
		"+351912345678": true, "+49 (1511) 234-5678": true, "+1234": false, "0151 12345678": false, "call me": false,
		"+351912345678 ext 5": false,
	} {
		for way, takes := range phoneWays {
			test.EqOp(t, want, takes(number), test.Sprintf("%s: %q", way, number))
		}
	}
}

// nameWays has each way in which a name comes in, and what is wrong with it; "" if it is taken.
var nameWays = map[string]func(name string) error{
	"a member": func(name string) error {
		_, err := member.Member{Name: name, Status: member.Active}.Normalize()
		return err
	},
	"a guest": func(name string) error {
		_, err := booking.CheckBooker(tenant.MemberID{}, true, booking.Contact{Name: name}, booking.Contact{}, "")
		return err
	},
	"a location": func(name string) error { return catalog.Location{Name: name, TimeZone: "UTC"}.Validate() },
	"a resource": func(name string) error { return catalog.Resource{Name: name}.Validate() },
	"an item":    func(name string) error { return booking.Item{Name: name}.Validate() },
	"a workout":  func(name string) error { _, err := session.Workout{Name: name}.Normalize(); return err },
	"a plan":     func(name string) error { return credit.Plan{Name: name, Kind: credit.Unlimited}.Validate() },
	"an account": func(name string) error { _, err := grant.ServiceAccount{Name: name}.Normalize(); return err },
	"a role":     func(name string) error { _, err := grant.Role{Name: "desk", Title: name}.Normalize(); return err },
	"a sender": func(name string) error {
		s := notify.DefaultSettings()
		s.SenderName = name
		_, err := s.Normalize()
		return err
	},
}

func TestLine_IsTheSameForEachName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Harbour Yoga": true, "José": true, "🧘‍♀️ Yoga": true, "Har\u200bbour": false, "Har\nbour": false,
		"Har\u202ebour": false, "Har\xffbour": false, strings.Repeat("n", 201): false,
	} {
		_, problem := field.Line(200)(name)
		for way, check := range nameWays {
			err := check(name)
			test.EqOp(t, want, err == nil, test.Sprintf("%s: %q: %v", way, name, err))
			if way != "a sender" && !want { // which is shorter
				test.StrContains(t, err.Error(), problem, test.Sprint(way))
			}
		}
	}
	for _, name := range []string{" Harbour", "Harbour\u200b", "\u202eHarbour", ""} {
		test.NotEq(t, "", field.CheckName(name, 200), test.Sprintf("%q", name))
	}
}

// editWays has each thing whose name is stored as it is written, with an edit of it. Valid is whether its other fields
// are.
var editWays = map[string]func(before, after string, valid bool) error{
	"a tenant": func(before, after string, valid bool) error {
		t := catalog.Tenant{Name: after, TimeZone: "UTC", Locale: "en", Currency: "EUR"}
		if !valid {
			t.TimeZone = "Nowhere"
		}
		return t.ValidateEdit(catalog.Tenant{Name: before})
	},
	"a location": func(before, after string, valid bool) error {
		l := catalog.Location{Name: after, TimeZone: "UTC"}
		if !valid {
			l.TimeZone = "Nowhere"
		}
		return l.ValidateEdit(catalog.Location{Name: before})
	},
	"a resource": func(before, after string, valid bool) error {
		r := catalog.Resource{Name: after}
		if !valid {
			r.Kind = "\x00"
		}
		return r.ValidateEdit(catalog.Resource{Name: before})
	},
	"a service": func(before, after string, valid bool) error {
		s := catalog.Service{Name: after, Duration: time.Hour, MinParty: 1, MaxParty: 1, Delivery: catalog.InPerson}
		if !valid {
			s.MaxParty = 0
		}
		return s.ValidateEdit(catalog.Service{Name: before})
	},
	"an item": func(before, after string, valid bool) error {
		i := booking.Item{Name: after}
		if !valid {
			i.Stock = -1
		}
		return i.ValidateEdit(booking.Item{Name: before})
	},
	"a provider": func(before, after string, valid bool) error {
		p := booking.BenefitProvider{Code: "GYM", Name: after, Pattern: "[0-9]+", Verification: booking.Unverified}
		if !valid {
			p.Percent = 101
		}
		return p.ValidateEdit(booking.BenefitProvider{Name: before})
	},
	"a workout": func(before, after string, valid bool) error {
		w := session.Workout{Name: after}
		if !valid {
			w.Body = "\x00"
		}
		_, err := w.NormalizeFrom(session.Workout{Name: before})
		return err
	},
	"a plan": func(before, after string, valid bool) error {
		p := credit.Plan{Name: after, Kind: credit.Unlimited}
		if !valid {
			p.Credits = 1
		}
		return p.ValidateEdit(credit.Plan{Name: before, Kind: credit.Unlimited})
	},
	"a guest": func(before, after string, valid bool) error {
		_, err := booking.Edit(booking.Booking{Contact: booking.Contact{Name: before}}, func(d *booking.Details) {
			d.Contact.Name, d.Note = after, "late"
			if !valid {
				d.Contact.Email = "none"
			}
		})
		return err
	},
	"a session": func(before, after string, valid bool) error {
		known := session.References{
			Service:  session.ServiceReference{Active: true},
			Location: session.LocationReference{Active: true},
		}
		d := session.Details{
			Title: before, Service: tenant.ServiceID{UUID: tenant.UUID{1}}, Location: tenant.LocationID{UUID: tenant.UUID{1}},
		}
		in := session.Input{Title: after}
		if !valid {
			in.Description = "\x00"
		}
		_, err := d.Edit(in, session.TitleField|session.DescriptionField, known)
		return err
	},
	"a role": func(before, after string, valid bool) error {
		r := grant.Role{Name: "desk", Title: after, Permissions: []string{"member.read"}}
		if !valid {
			r.Description = "\x00"
		}
		_, err := grant.EditRole(grant.AllPermissions(), grant.Role{Name: "desk", Title: before}, r)
		return err
	},
}

// What was stored before a rule became stricter can still be edited, but not made invalid in another way.
func TestKept_LetsStoredNamesStay(t *testing.T) {
	t.Parallel()
	const old = "Har\u200bbour"
	for way, edit := range editWays {
		test.NoError(t, edit(old, old, true), test.Sprint(way))
		test.Error(t, edit(old, old, false), test.Sprint(way))
		test.Error(t, edit("Harbour", old, true), test.Sprint(way))
		test.NoError(t, edit(old, "Harbour", true), test.Sprint(way))
	}
}

// zoneWays has each way in which a time zone comes in.
var zoneWays = map[string]func(t *testing.T, zone string) bool{
	"a member": func(_ *testing.T, zone string) bool {
		_, err := member.Member{Name: "Ana", Status: member.Active, TimeZone: zone}.Normalize()
		return err == nil
	},
	"a file of members": func(t *testing.T, zone string) bool {
		t.Helper()
		found, err := member.ParseImport([]byte("name;time_zone\nAna;" + zone + "\n"))
		must.NoError(t, err)
		return len(found.Problems()) == 0
	},
	"a location": func(_ *testing.T, zone string) bool {
		return catalog.Location{Name: "Pier", TimeZone: zone}.Validate() == nil
	},
}

func TestZone_IsTheSameWhateverTheWayIn(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]bool{
		"Europe/Lisbon": true, "UTC": true, "America/Argentina/Buenos_Aires": true, "Etc/GMT+5": true,
		"Local": false, "localtime": false, "posixrules": false, "Factory": false, "posix/Europe/Lisbon": false,
		"right/Europe/Lisbon": false, "Mars": false, "../etc/passwd": false, "Europe/Lisbon" + space: false,
		"Europe//Lisbon": false,
	} {
		for way, takes := range zoneWays {
			if way == "a file of members" && strings.HasSuffix(zone, space) {
				continue // cells are read without space around them
			}
			test.EqOp(t, want, takes(t, zone), test.Sprintf("%s: %q", way, zone))
		}
	}
}

func TestLine_ComposesAndTrims(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		space + "Jose\u0301\u200b": "José", "\u200b": "", "A\u200bna": "", "Ana\nBen": "",
		"12345678901": "", "1234567890": "1234567890",
	} {
		got, problem := field.Line(10)(written)
		test.EqOp(t, want, got, test.Sprintf("%q", written))
		test.EqOp(t, want == "", problem != "", test.Sprintf("%q", written))
	}
}

// A quoted cell says which text is wrong.
func TestEmail_IsQuotedInAFile(t *testing.T) {
	t.Parallel()
	found, err := session.ParseImport(
		[]byte("service,location,date,start,end,coach_email\nF,P,2026-03-29,18:00,19:00,Mia\n"),
	)
	must.NoError(t, err)
	_, problem := field.Email("Mia")
	test.EqOp(t, csvfile.Quote("Mia")+": "+problem, found.Problems()[0].Message)
}
