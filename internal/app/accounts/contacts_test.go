package accounts_test

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// newAddress asks for another address and returns the edited member.
func newAddress(s *testkit.Studio, who tenant.Caller, address string) (accounts.Me, error) {
	return s.App.Accounts.UpdateMe(s.T.Context(), testkit.SelfOnly(who), nil, func(m *member.Member) error {
		m.Email = address
		return nil
	})
}

func newNumber(s *testkit.Studio, who tenant.Caller, number string) (accounts.Me, error) {
	return s.App.Accounts.UpdateMe(s.T.Context(), testkit.SelfOnly(who), nil, func(m *member.Member) error {
		m.Phone = number
		return nil
	})
}

var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

// codeTo delivers messages and returns the code that an address or number got.
func codeTo(s *messagetest.Studio, address string) string {
	s.T.Helper()
	s.Deliver()
	code := ""
	for _, m := range s.Provider.Take() {
		if m.To == address {
			code = sixDigits.FindString(m.Text)
		}
	}
	must.NotEq(s.T, "", code, must.Sprintf("no code to %s", address))
	return code
}

// another returns another code.
func another(code string) string {
	if code[0] == '9' {
		return "0" + code[1:]
	}
	return string(code[0]+1) + code[1:]
}

func TestContact_IsTheMembersOnceItIsConfirmed(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	ana := testkit.SelfOnly(s.AddReachable("Ana"))
	me := expect.Value(newAddress(s.Studio, ana, "new@example.com"))(t)
	must.EqOp(t, "ana@example.com", me.Member.Email)
	must.SliceLen(t, 1, me.Pending)
	must.EqOp(t, "new@example.com", me.Pending[0].Address)
	test.Eq(t, map[string]any{"kind": "EMAIL"}, s.LastAudit("contact.code_requested"))
	test.EqOp(t, 1, s.Count(`
select count(*) from events where type = 'member.changed' and member_id = $1 and actor = $1::text
  and data = '{"changed": ["pending_contacts"]}'`, ana.Member))

	s.Deliver()
	var code, old string
	for _, m := range s.Provider.Take() {
		switch m.To {
		case "new@example.com":
			code = sixDigits.FindString(m.Text)
			test.StrContains(t, m.Text, "https://berth.example"+accounts.ConfirmPath)
			test.EqOp(t, "", m.Unsubscribe)
		case "ana@example.com":
			old = m.Text
			test.StrNotContains(t, m.Text, "new@example.com")
		default:
			t.Errorf("a message to %s", m.To)
		}
	}
	must.NotEq(t, "", code)
	must.StrContains(t, old, "being changed")

	confirm := func(code string) (member.Member, error) {
		return s.App.Accounts.ConfirmContact(t.Context(), ana, member.ByEmail, code)
	}
	_, err := confirm(another(code))
	test.EqOp(t, "CONTACT_CODE_INVALID @code guesses_left=4", faulttest.Text(err))
	m := expect.Value(confirm(code))(t)
	test.EqOp(t, "new@example.com", m.Email)
	test.EqOp(t, me.Member.Version+1, m.Version)
	test.True(t, m.Confirmed(member.ByEmail, ""))
	expect.Reason(t, fault.ContactNotPending)(confirm(code))
	got := expect.Value(s.App.Accounts.GetMe(t.Context(), ana))(t)
	test.EqOp(t, "new@example.com", got.Member.Email)
	test.SliceEmpty(t, got.Pending)
	test.EqOp(t, 1, s.Count(`select count(*) from audit_entries where action = 'contact.confirmed'`))
}

func TestContact_NumberNeedsACodeBySMS(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	ana := testkit.SelfOnly(s.AddMember("Ana"))
	_, err := newNumber(s.Studio, ana, "+351912345678")
	test.EqOp(t, "CONTACT_COUNTRY @member.phone country=PT", faulttest.Text(err), test.Sprint("the studio is in Berlin"))
	expect.OK(t)(s.App.Messages.UpdateNotificationSettings(t.Context(), s.Owner, nil, func(n *notify.Settings) {
		n.PhoneCountries = []string{"PT"}
	}))
	// Quiet hours do not hold back a code.
	s.Clock.Set(testkit.Noon.Add(10 * time.Hour))
	expect.OK(t)(newNumber(s.Studio, ana, "+351912345678"))
	_, err = newNumber(s.Studio, ana, "+4915112345678")
	test.EqOp(t, "CONTACT_COUNTRY @member.phone country=DE", faulttest.Text(err))
	m := expect.Value(s.App.Accounts.ConfirmContact(
		t.Context(), ana, member.ByPhone, codeTo(s, "+351912345678"),
	))(t)
	test.EqOp(t, "+351912345678", m.Phone)
	test.True(t, m.Confirmed(member.ByPhone, ""), test.Sprintf("%+v", m))
}

// Whether another member has an address shows only to those who have proven that it is theirs.
func TestContact_IsNoOracle(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	ben := s.AddReachable("Ben")
	mallory := testkit.SelfOnly(s.AddMember("Mallory"))
	taken := expect.Value(newAddress(s.Studio, mallory, "BEN@example.com"))(t)
	code := codeTo(s, "BEN@example.com")
	expect.Reason(t, fault.ContactCodeInvalid)(
		s.App.Accounts.ConfirmContact(t.Context(), mallory, member.ByEmail, another(code)),
	)
	free := expect.Value(newAddress(s.Studio, mallory, "free@example.com"))(t)
	for _, me := range []accounts.Me{taken, free} {
		test.EqOp(t, "", me.Member.Email)
		must.SliceLen(t, 1, me.Pending)
		test.EqOp(t, 0, me.Pending[0].Guesses)
		test.EqOp(t, testkit.Noon.Add(member.CodeLifetime), me.Pending[0].ExpiresAt.UTC())
	}
	expect.OK(t)(newAddress(s.Studio, mallory, "BEN@example.com"))
	code = codeTo(s, "BEN@example.com")
	_, err := s.App.Accounts.ConfirmContact(t.Context(), mallory, member.ByEmail, code)
	test.EqOp(t, "ALREADY_EXISTS @member.email", faulttest.Text(err))
	// The issuer of the token has verified the address, so its holder may know.
	mallory.Email = "ben@example.com"
	_, err = newAddress(s.Studio, mallory, "ben@example.com")
	test.EqOp(t, "ALREADY_EXISTS @member.email", faulttest.Text(err))
	test.EqOp(t, "ben@example.com", expect.Value(s.App.Accounts.GetMe(t.Context(), ben))(t).Member.Email)
}

func TestContact_ThatTheTokenVerifiesNeedsNoCode(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	ana := testkit.SelfOnly(s.AddReachable("Ana"))
	ana.Email = "Ana@Token.example"
	me := expect.Value(newAddress(s.Studio, ana, "ana@token.example"))(t)
	must.EqOp(t, "ana@token.example", me.Member.Email)
	must.SliceEmpty(t, me.Pending)
	test.True(t, me.Member.Confirmed(member.ByEmail, ""))
	s.Deliver()
	sent := s.Provider.Take()
	must.SliceLen(t, 1, sent)
	test.EqOp(t, "ana@example.com", sent[0].To, test.Sprint("the old address is told"))
}

func TestContact_CodesExpireAndEndAfterFiveGuesses(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	ana := testkit.SelfOnly(s.AddMember("Ana"))
	confirm := func(code string) error {
		return expect.Error(s.App.Accounts.ConfirmContact(t.Context(), ana, member.ByEmail, code))
	}
	resend := func() error {
		return expect.Error(s.App.Accounts.ResendContactCode(t.Context(), ana, member.ByEmail))
	}
	test.EqOp(t, fault.ContactNotPending, fault.ReasonOf(resend()), test.Sprint("there is no address"))
	expect.OK(t)(newAddress(s.Studio, ana, "ana@example.com"))
	first := codeTo(s, "ana@example.com")
	for range member.MaxGuesses {
		must.EqOp(t, fault.ContactCodeInvalid, fault.ReasonOf(confirm(another(first))))
	}
	must.EqOp(t, fault.ContactCodeExpired, fault.ReasonOf(confirm(first)))

	must.NoError(t, resend())
	second := codeTo(s, "ana@example.com")
	s.Clock.Advance(member.CodeLifetime)
	must.EqOp(t, fault.ContactCodeExpired, fault.ReasonOf(confirm(second)))

	must.NoError(t, resend())
	third := codeTo(s, "ana@example.com")
	if second != third {
		must.EqOp(t, fault.ContactCodeInvalid, fault.ReasonOf(confirm(second)), must.Sprint("the newest counts"))
	}
	must.EqOp(t, fault.QuotaExceeded, fault.ReasonOf(resend()))
	expect.Reason(t, fault.QuotaExceeded, "another address is no way around")(
		newAddress(s.Studio, ana, "other@example.com"),
	)
	must.NoError(t, confirm(third))
	test.EqOp(t, fault.ContactNotPending, fault.ReasonOf(resend()), test.Sprint("it is confirmed"))

	s.Clock.Set(testkit.Noon.Add(24*time.Hour + member.CodeLifetime))
	expect.OK(t)(newAddress(s.Studio, ana, "other@example.com"))
	expect.OK(t)(s.App.Housekeeping.SweepTenant(t.Context(), s.Tenant))
	test.EqOp(t, 2, s.Count(`select count(*) from contact_codes`))
}

// An address gets three codes a day from all members together. Later ones are not sent, which their members cannot
// tell.
func TestContact_AddressGetsThreeCodesADay(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	got := 0
	for range 5 {
		expect.OK(t)(newAddress(s.Studio, s.AddMember("Mallory"), "victim@example.com"))
		s.Deliver()
		got += len(s.Provider.Take())
	}
	test.EqOp(t, member.MaxCodes, got)
}

// Many members cannot guess for one another: wrong codes count at the address, too, and a code that was not sent is
// never right. The answers tell nobody that others have tried.
func TestContact_GuessesCountAtTheAddress(t *testing.T) {
	t.Parallel()
	const address = "victim@example.com"
	for wrongs, want := range map[int]string{
		member.MaxAddressGuesses - 1: "",
		member.MaxAddressGuesses:     "CONTACT_CODE_INVALID @code guesses_left=4",
	} {
		t.Run(fmt.Sprint(wrongs), func(t *testing.T) {
			t.Parallel()
			s := messagetest.New(t)
			owner := testkit.SelfOnly(s.AddMember("Owner"))
			expect.OK(t)(newAddress(s.Studio, owner, address))
			code := codeTo(s, address)
			for tried := 0; tried < wrongs; { // the codes of the third stranger and those after are not sent
				stranger := testkit.SelfOnly(s.AddMember("Mallory"))
				expect.OK(t)(newAddress(s.Studio, stranger, address))
				for left := member.MaxGuesses - 1; left >= 0 && tried < wrongs; left, tried = left-1, tried+1 {
					_, err := s.App.Accounts.ConfirmContact(t.Context(), stranger, member.ByEmail, another(code))
					must.EqOp(t, fmt.Sprintf("CONTACT_CODE_INVALID @code guesses_left=%d", left), faulttest.Text(err))
				}
			}
			_, err := s.App.Accounts.ConfirmContact(t.Context(), owner, member.ByEmail, code)
			test.EqOp(t, want, faulttest.Text(err))
		})
	}
}

// The link proves that the mail was read, however often others have guessed.
func TestContact_LinkConfirmsAfterGuessesOfOthers(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	ana := testkit.SelfOnly(s.AddMember("Ana"))
	expect.OK(t)(newAddress(s.Studio, ana, "ana@example.com"))
	s.Deliver()
	link := ""
	for _, m := range s.Provider.Take() {
		if _, text, ok := strings.Cut(m.Text, accounts.ConfirmPath); ok {
			link = strings.Fields(text)[0]
		}
	}
	for range member.MaxCodes {
		stranger := testkit.SelfOnly(s.AddMember("Mallory"))
		expect.OK(t)(newAddress(s.Studio, stranger, "ana@example.com"))
		for range member.MaxGuesses {
			must.Error(t, expect.Error(s.App.Accounts.ConfirmContact(t.Context(), stranger, member.ByEmail, "abcdef")))
		}
	}
	must.NoError(t, s.App.Accounts.ConfirmByLink(t.Context(), link))
}

// None of all codes is that of a contact whose code was not sent. The code of one that was is found in the same way.
func TestContact_CodesThatWereNotSentAreNeverRight(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	who := make([]tenant.Caller, member.MaxCodes+1)
	for i := range who {
		who[i] = testkit.SelfOnly(s.AddMember("Mallory"))
		expect.OK(t)(newAddress(s.Studio, who[i], "victim@example.com"))
	}
	test.EqOp(t, member.MaxCodes, s.Count(`select count(*) from contact_codes where sent`))
	found := func(of tenant.Caller) (rights int) {
		stored := expect.Value(hex.DecodeString(s.Text(
			`select encode(code_hash, 'hex') from pending_contacts where member_id = $1`, of.Member)))(t)
		key := expect.Value(hkdf.Key(sha256.New, []byte("a key for tests that is 32 bytes"), s.Tenant.UUID[:],
			"berth/hash/v1/contact code", sha256.Size))(t)
		mac := hmac.New(sha256.New, key)
		for n := range 1_000_000 {
			mac.Reset()
			fmt.Fprintf(mac, "%s EMAIL %06d victim@example.com", of.Member, n)
			if hmac.Equal(stored, mac.Sum(nil)) {
				rights++
			}
		}
		return rights
	}
	test.EqOp(t, 1, found(who[0]))
	test.EqOp(t, 0, found(who[member.MaxCodes]))
}

func TestContact_CanBeCancelled(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	ana := testkit.SelfOnly(s.AddMember("Ana"))
	expect.OK(t)(newAddress(s.Studio, ana, "ana@example.com"))
	must.NoError(t, s.App.Accounts.CancelContact(t.Context(), ana, member.ByEmail))
	must.NoError(t, s.App.Accounts.CancelContact(t.Context(), ana, member.ByEmail))
	s.Deliver()
	test.SliceEmpty(t, s.Provider.Take(), test.Sprint("the code is of no use any more"))
	// A change by staff ends what was pending, too.
	expect.OK(t)(newAddress(s.Studio, ana, "ana@example.com"))
	s.EditMember(ana, func(m *member.Member) { m.Email = "front@example.com" })
	me := expect.Value(s.App.Accounts.GetMe(t.Context(), ana))(t)
	must.SliceEmpty(t, me.Pending)
	test.False(t, me.Member.Confirmed(member.ByEmail, ""), test.Sprintf("%+v", me))
}

// The link in the mail does what the code does, without signing in. A link that was replaced is no guess.
func TestContact_LinkConfirms(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	ana := testkit.SelfOnly(s.AddMember("Ana"))
	link := func() string {
		s.Deliver()
		for _, m := range s.Provider.Take() {
			if _, text, ok := strings.Cut(m.Text, accounts.ConfirmPath); ok {
				return strings.Fields(text)[0]
			}
		}
		return ""
	}
	expect.OK(t)(newAddress(s.Studio, ana, "ana@example.com"))
	first := link()
	shown := expect.Value(s.App.Accounts.GetContactLink(t.Context(), first))(t)
	must.True(t, shown.Open, must.Sprintf("%+v", shown))
	must.EqOp(t, "ana@example.com", shown.Address)
	expect.OK(t)(s.App.Accounts.ResendContactCode(t.Context(), ana, member.ByEmail))
	second := link()
	shown = expect.Value(s.App.Accounts.GetContactLink(t.Context(), first))(t)
	must.False(t, shown.Open, must.Sprintf("%+v", shown))
	must.EqOp(t, "", shown.Address)
	for range member.MaxGuesses {
		test.EqOp(t, fault.ContactCodeExpired, fault.ReasonOf(s.App.Accounts.ConfirmByLink(t.Context(), first)))
	}
	test.EqOp(t, fault.LinkInvalid, fault.ReasonOf(s.App.Accounts.ConfirmByLink(t.Context(), "x"+second)))
	must.NoError(t, s.App.Accounts.ConfirmByLink(t.Context(), second))
	test.EqOp(t, "ana@example.com", expect.Value(s.App.Accounts.GetMe(t.Context(), ana))(t).Member.Email)
	test.EqOp(t, ana.Member.String(), s.Text(`select actor from audit_entries where action = 'contact.confirmed'`))

	expect.OK(t)(newAddress(s.Studio, ana, "left@example.com"))
	last := link()
	s.Deactivate(ana)
	test.EqOp(t, fault.MemberNotFound, fault.ReasonOf(s.App.Accounts.ConfirmByLink(t.Context(), last)))
}

// A reader of the database finds no code, neither as it is nor by trying all codes.
func TestContact_CodesAreStoredUnderAKey(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	expect.OK(t)(newAddress(s.Studio, s.AddMember("Ana"), "ana@example.com"))
	code := codeTo(s, "ana@example.com")
	for _, table := range []string{
		"pending_contacts", "contact_codes", "notices", "deliveries", "audit_entries", "events",
	} {
		test.EqOp(t, 0, s.Count(`select count(*) from `+table+` x where x::text ~ ('\m'||$1||'\M')`, code),
			test.Sprint(table))
	}
	test.EqOp(t, 0, s.Count(`
select count(*) from pending_contacts p, generate_series(0, 999999) n
where p.code_hash = sha256(lpad(n::text, 6, '0')::bytea)`))
}

// Parallel guesses count, too. Negative control: with less isolation, more than five are answered.
func TestContact_ParallelGuessesCount(t *testing.T) {
	t.Parallel()
	const callers = 8
	for readCommitted, answered := range map[bool]int{false: member.MaxGuesses, true: callers} {
		t.Run(fmt.Sprintf("read committed=%t", readCommitted), func(t *testing.T) {
			t.Parallel()
			barrier, studio := testkit.NewRace(t)
			s := messagetest.On(studio)
			ana := testkit.SelfOnly(s.AddMember("Ana"))
			expect.OK(t)(newAddress(s.Studio, ana, "ana@example.com"))
			wrong := another(codeTo(s, "ana@example.com"))
			barrier.ReadCommitted = readCommitted
			reasons := make([]fault.Reason, callers)
			var guesses []func()
			for i := range callers {
				guesses = append(guesses, func() {
					for reasons[i] == "" || reasons[i] == fault.Contention {
						_, err := s.App.Accounts.ConfirmContact(t.Context(), ana, member.ByEmail, wrong)
						reasons[i] = fault.ReasonOf(err)
					}
				})
			}
			barrier.Run(guesses...)
			counts := make(map[fault.Reason]int)
			for _, reason := range reasons {
				counts[reason]++
			}
			test.EqOp(t, answered, counts[fault.ContactCodeInvalid], test.Sprint(counts))
			test.EqOp(t, callers-answered, counts[fault.ContactCodeExpired], test.Sprint(counts))
		})
	}
}

// Who may edit members confirms their own contacts all the same.
func TestContact_OfAnAdminIsConfirmedToo(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	ada := s.AddPerson("Ada", tenant.RoleAdmin)
	before := expect.Value(s.App.Accounts.GetMe(t.Context(), ada))(t).Member
	m := expect.Value(s.App.Accounts.UpdateMember(t.Context(), ada, ada.Member, nil, func(m *member.Member) error {
		m.Email, m.Name = "other@example.com", "Ada L."
		return nil
	}))(t)
	test.EqOp(t, before.Email, m.Email)
	test.EqOp(t, "Ada L.", m.Name)
	me := expect.Value(s.App.Accounts.GetMe(t.Context(), ada))(t)
	must.Len(t, 1, me.Pending)
	test.EqOp(t, "other@example.com", me.Pending[0].Address)
	codeTo(s, "other@example.com")
}
