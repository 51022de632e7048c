package member_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestHoldContacts_KeepsOldContactsUntilTheNewOnesAreConfirmed(t *testing.T) {
	t.Parallel()
	before := ana(set{"Email": "ana@example.com", "Phone": "+351912345678", "ConfirmedEmail": "ana@example.com"})
	mail := func(address string) member.Contact { return member.Contact{Kind: member.ByEmail, Address: address} }
	phone := func(number string) member.Contact { return member.Contact{Kind: member.ByPhone, Address: number} }
	for name, c := range map[string]struct {
		edit, want set
		is         []member.ContactChange
	}{
		"nothing":  {nil, nil, nil},
		"the name": {set{"Name": "A"}, set{"Name": "A"}, nil},
		"the same in capitals": {
			set{"Email": "Ana@example.com"},
			set{"Email": "Ana@example.com"}, nil,
		},
		"another address and name": {
			set{"Email": "new@example.com", "Name": "A"},
			set{"Name": "A"},
			[]member.ContactChange{{From: mail("ana@example.com"), To: mail("new@example.com"), NeedsCode: true}},
		},
		"another number": {
			set{"Phone": "+351912345679"}, nil,
			[]member.ContactChange{{From: phone("+351912345678"), To: phone("+351912345679"), NeedsCode: true}},
		},
		"no address, no number": {
			set{"Email": "", "Phone": ""}, set{"Email": "", "Phone": ""},
			[]member.ContactChange{
				{From: mail("ana@example.com"), To: mail("")}, {From: phone("+351912345678"), To: phone("")},
			},
		},
		"the address of the token": {
			set{"Email": "token@example.com"},
			set{"Email": "token@example.com", "ConfirmedEmail": "token@example.com", "SignInEmail": "token@example.com"},
			[]member.ContactChange{{From: mail("ana@example.com"), To: mail("token@example.com")}},
		},
	} {
		held, changes := member.HoldContacts(before, vary.From(before, c.edit), "Token@example.com")
		test.Eq(t, vary.From(before, c.want), held, test.Sprint(name))
		test.Eq(t, c.is, changes, test.Sprint(name))
	}
}

func TestConfirmed_ComparesWithWhatIsKnown(t *testing.T) {
	t.Parallel()
	of := ana(set{"Email": "Ana@example.com", "Phone": "+351912345678"})
	for name, tt := range map[string]struct {
		of       member.Member
		kind     member.ContactKind
		verified string
		want     bool
	}{
		"nothing is known":           {of, member.ByEmail, "", false},
		"an address of a token":      {of, member.ByEmail, "ana@EXAMPLE.com", true},
		"a token verifies no number": {of, member.ByPhone, "+351912345678", false},
		"a confirmed number":         {of.Confirm(of.Contact(member.ByPhone)), member.ByPhone, "", true},
		"the address is not it":      {of.Confirm(of.Contact(member.ByPhone)), member.ByEmail, "", false},
		"no address is confirmed":    {ana(nil), member.ByEmail, "", false},
	} {
		test.EqOp(t, tt.want, tt.of.Confirmed(tt.kind, tt.verified), test.Sprint(name))
	}
	test.EqOp(t, "email phone", member.ByEmail.Field()+" "+member.ByPhone.Field(), test.Sprint("the fields of a member"))
}

// What is known of a contact ends with it, also if staff change it.
func TestEdit_ForgetsConfirmedContacts(t *testing.T) {
	t.Parallel()
	before := ana(set{
		"Email": "ana@example.com", "ConfirmedEmail": "ana@example.com",
		"Phone": "+351912345678", "ConfirmedPhone": "+351912345678",
	})
	for address, want := range map[string]string{
		"ANA@example.com": "ana@example.com", "": "", "new@example.com": "",
	} {
		after, _, err := member.Edit(before, vary.From(before, set{"Email": address}), true, true)
		must.NoError(t, err)
		test.EqOp(t, want, after.ConfirmedEmail, test.Sprint(address))
	}
	for number, want := range map[string]string{"+351912345678": "+351912345678", "": "", "+351912345679": ""} {
		after, _, err := member.Edit(before, vary.From(before, set{"Phone": number}), true, true)
		must.NoError(t, err)
		test.EqOp(t, want, after.ConfirmedPhone, test.Sprint(number))
	}
}

func TestRequestCode_LimitsCodes(t *testing.T) {
	t.Parallel()
	number := member.Contact{Kind: member.ByPhone, Address: "+351912345678"}
	address := member.Contact{Kind: member.ByEmail, Address: "ana@example.com"}
	portugal := []string{"DE", "PT"}
	open := &member.PendingContact{Contact: number, ExpiresAt: noon.Add(time.Second)}
	for name, c := range map[string]struct {
		to    member.Contact
		facts member.CodeFacts
		again bool
		plan  member.CodePlan
		err   string
	}{
		"the first": {number, member.CodeFacts{Countries: portugal}, false, member.CodePlan{Make: true, Send: true}, ""},
		"another country": {
			number, member.CodeFacts{Countries: []string{"DE"}}, false, member.CodePlan{},
			"CONTACT_COUNTRY @member.phone country=PT",
		},
		"a number that is not mobile": {
			member.Contact{Kind: member.ByPhone, Address: "+4930123456"}, member.CodeFacts{Countries: portugal}, false,
			member.CodePlan{}, "CONTACT_NOT_MOBILE @member.phone",
		},
		"three times the quota": {
			address, member.CodeFacts{Ceiling: 600}, false, member.CodePlan{},
			"QUOTA_EXCEEDED limit=600 quota=sent_messages",
		},
		"three times the quota, to an address that got many": {
			address, member.CodeFacts{ToAddress: 3, Ceiling: 600}, false, member.CodePlan{},
			"QUOTA_EXCEEDED limit=600 quota=sent_messages",
		},
		"an address":  {address, member.CodeFacts{}, false, member.CodePlan{Make: true, Send: true}, ""},
		"one is open": {number, member.CodeFacts{Countries: portugal, Pending: open}, false, member.CodePlan{}, ""},
		"one is open, asked again": {
			number, member.CodeFacts{Countries: portugal, Pending: open}, true, member.CodePlan{Make: true, Send: true}, "",
		},
		"one for another is open": {
			address, member.CodeFacts{Pending: open}, false, member.CodePlan{Make: true, Send: true}, "",
		},
		"the third": {
			address, member.CodeFacts{OfMember: 2}, true, member.CodePlan{Make: true, Send: true}, "",
		},
		"the fourth": {
			address, member.CodeFacts{OfMember: 3}, true, member.CodePlan{},
			"QUOTA_EXCEEDED limit=3 quota=contact_codes",
		},
		"the fourth to an address": {
			address, member.CodeFacts{ToAddress: 3}, true, member.CodePlan{Make: true}, "",
		},
	} {
		plan, err := member.RequestCode(c.to, c.facts, c.again, noon)
		test.EqOp(t, c.err, faulttest.Text(err), test.Sprint(name))
		test.EqOp(t, c.plan, plan, test.Sprint(name))
	}
}

// However often it is guessed: a code is right for ten minutes, and after fewer than five wrong ones of the member's
// and fifteen at the address. The member does not learn of the latter.
func TestGuess_EndsAfterFiveWrongOnes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pending := member.PendingContact{ExpiresAt: noon.Add(member.CodeLifetime)}
		wrong := 0
		for _, right := range rapid.SliceOfN(rapid.Bool(), 1, 12).Draw(t, "guesses") {
			now := noon.Add(rapid.SampledFrom([]time.Duration{
				0, 10*time.Minute - 1, 10 * time.Minute,
			}).Draw(t, "after"))
			atAddress := rapid.SampledFrom([]int{0, 14, 15, 100}).Draw(t, "at the address")
			after, err := pending.Guess(right, atAddress, now)
			switch {
			case now.Sub(noon) == 10*time.Minute || wrong == 5:
				must.EqOp(t, "CONTACT_CODE_EXPIRED", faulttest.Text(err))
			case right && atAddress < 15:
				must.Nil(t, err)
			default:
				wrong++
				must.EqOp(t, fmt.Sprintf("CONTACT_CODE_INVALID @code guesses_left=%d", 5-wrong), faulttest.Text(err))
			}
			must.EqOp(t, wrong, after.Guesses)
			pending = after
		}
	})
}

func TestCheckNewest_RejectsLinksOfOlderCodes(t *testing.T) {
	t.Parallel()
	newest := tenant.CodeID{UUID: tenant.UUID{1}}
	pending := member.PendingContact{Code: newest}
	expect.Fault(t, "")(pending.CheckNewest(newest))
	expect.Fault(t, "CONTACT_CODE_EXPIRED")(pending.CheckNewest(tenant.CodeID{UUID: tenant.UUID{2}}))
}

func TestContactToConfirm_IsThePendingOneOrElseTheirs(t *testing.T) {
	t.Parallel()
	const address = "mia@example.org"
	theirs := member.Contact{Kind: member.ByEmail, Address: address}
	other := member.Contact{Kind: member.ByEmail, Address: "m@n"}
	for name, tt := range map[string]struct {
		member   member.Member
		pending  *member.PendingContact
		verified string
		want     member.Contact
	}{
		"one that is pending":        {member.Member{Email: address}, &member.PendingContact{Contact: other}, "", other},
		"theirs, not confirmed":      {member.Member{Email: address}, nil, "", theirs},
		"theirs, confirmed":          {member.Member{Email: address, ConfirmedEmail: address}, nil, "", member.Contact{}},
		"theirs, verified elsewhere": {member.Member{Email: address}, nil, address, member.Contact{}},
		"none":                       {},
	} {
		got, err := tt.member.ContactToConfirm(member.ByEmail, tt.pending, tt.verified)
		refused := ""
		if tt.want.Address == "" {
			refused = "CONTACT_NOT_PENDING"
		}
		expect.Fault(t, refused, name)(err)
		test.EqOp(t, tt.want, got, test.Sprint(name))
	}
}

func TestCountry_OfNumbers(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"+351912345678": "PT", "+4915112345678": "DE", "+442071838750": "GB", "+12125550123": "US", "+14165550123": "CA",
		"+15005550006": "US", "+441111111111": "GB", "+870301234567": "", "+88213300655": "", "": "", "x": "",
	} {
		test.EqOp(t, want, member.Country(number), test.Sprint(number))
	}
}

func TestMobile_LeavesOutOtherNumbers(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]bool{
		"+351912345678": true, "+4915112345678": true, "+33612345678": true, "+12125550123": true,
		"+4930123456": false, "+442071838750": false, "+351211234567": false, // fixed-line
		"+49900112345": false, "+449098790000": false, "+19002345678": false, // premium
		"+4918012345": false, "+448431234567": false, // shared cost
		"+18002345678": false, "+498001234567": false, // toll-free
		"+15005550006": false, "": false, "x": false,
	} {
		test.EqOp(t, want, member.Mobile(number), test.Sprint(number))
	}
}

func TestCountries_AreThoseOfTheZonesUnlessChosen(t *testing.T) {
	t.Parallel()
	berlin := []string{"Europe/Berlin", "Europe/Vienna", "Europe/Busingen"}
	test.Eq(t, []string{"PT"}, member.Countries([]string{"PT"}, berlin, "de"))
	test.Eq(t, []string{"DE", "AT"}, member.Countries(nil, berlin, "fr"))
	test.Eq(t, []string{"BR"}, member.Countries(nil, []string{"UTC"}, "pt-BR"))
	test.Eq(t, []string{"DE"}, member.Countries(nil, nil, "de"))
	test.SliceEmpty(t, member.Countries(nil, nil, "eo"))
}
