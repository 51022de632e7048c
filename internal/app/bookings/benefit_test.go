package bookings_test

import (
	"fmt"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// linksCard makes a studio with a benefit provider.
func linksCard(t *testing.T, verification booking.Verification, families bool) *testkit.Studio {
	t.Helper()
	studio := testkit.New(t)
	expect.OK(t)(studio.App.Catalog.CreateBenefitProvider(t.Context(), studio.Owner, booking.BenefitProvider{
		Code: "LINKS", Name: "Links Card", Pattern: `[Mm]-\d{3}`, Percent: 20, Active: true, Verification: verification,
		Families: families,
	}))
	return studio
}

// confirmWith holds a seat of a new session and confirms it with a number.
func confirmWith(
	t *testing.T, studio *testkit.Studio, by tenant.Caller, number string,
) (booking.Benefit, error) {
	t.Helper()
	held := studio.MustHold(by, studio.AddSession(testkit.Session{}))
	result, err := studio.App.Bookings.ConfirmBooking(t.Context(), testkit.SelfOnly(by), bookings.ConfirmRequest{
		ID: held.ID, ProviderCode: "LINKS", Number: number,
	})
	if err != nil {
		return booking.Benefit{}, err
	}
	return result.Booking.Benefit, nil
}

func TestConfirmBooking_WithBenefitMembership(t *testing.T) {
	t.Parallel()
	studio := linksCard(t, booking.Unverified, false)
	mia := studio.AddMember("Mia")
	held := studio.MustHold(mia, studio.AddSession(testkit.Session{}))
	for _, wrong := range [][2]string{{"LINKS", "M-1"}, {"LINKS", "xM-001"}, {"OTHER", "M-001"}} {
		expect.Reason(t, fault.BenefitInvalid)(studio.App.Bookings.ConfirmBooking(
			t.Context(), testkit.SelfOnly(mia),
			bookings.ConfirmRequest{ID: held.ID, ProviderCode: wrong[0], Number: wrong[1]},
		))
	}
	result := expect.Value(studio.App.Bookings.ConfirmBooking(
		t.Context(), testkit.SelfOnly(mia),
		bookings.ConfirmRequest{ID: held.ID, ProviderCode: "LINKS", Number: "M-001"},
	))(t)
	must.EqOp(t, booking.Benefit{Code: "LINKS", Number: "M-001", Percent: 20}, result.Booking.Benefit)
	test.EqOp(t, 1, studio.Count(`select count(*) from bookings where benefit_number = 'M-001' and not benefit_verified`))
	test.EqOp(t, 1, studio.Count(
		`select count(*) from audit_entries where action = 'booking.benefit_applied' and target_id = $1`, held.ID.String(),
	), test.Sprint("audit entries"))
}

func TestConfirmBooking_ANumberServesOneMemberAtATime(t *testing.T) {
	t.Parallel()
	studio := linksCard(t, booking.Unverified, false)
	mia, ben := studio.AddMember("Mia"), studio.AddMember("Ben")
	expect.OK(t)(confirmWith(t, studio, mia, "M-001"))
	expect.OK(t)(confirmWith(t, studio, mia, "M-001"))
	expect.Reason(t, fault.BenefitInvalid)(confirmWith(t, studio, ben, "m-001"))
	held := studio.MustHold(ben, studio.AddSession(testkit.Session{}))
	expect.Reason(t, fault.BenefitInUse)(studio.App.Bookings.ConfirmBooking(t.Context(), studio.Owner,
		bookings.ConfirmRequest{ID: held.ID, Paid: testkit.FiftyEuros, ProviderCode: "LINKS", Number: "M-001"}))

	list := func() []catalogdb.ListedMembership {
		return expect.Value(studio.App.Catalog.ListBenefitMemberships(
			t.Context(), studio.Owner, catalogdb.MembershipQuery{Provider: "LINKS", Key: "M001", Limit: 10}))(t)
	}
	must.Len(t, 1, list())
	test.EqOp(t, mia.Member, list()[0].Member)
	test.EqOp(t, "Mia", list()[0].MemberName)
	test.EqOp(t, "M-001", list()[0].Number)
	for range 2 {
		must.NoError(t, studio.App.Catalog.DeleteBenefitMembership(t.Context(), studio.Owner, "LINKS", mia.Member))
	}
	test.SliceEmpty(t, list())
	expect.OK(t)(confirmWith(t, studio, ben, "M-001"))
	expect.Reason(t, fault.BenefitInvalid)(confirmWith(t, studio, mia, "M-001"))

	// Who changes to another number leaves the first one to others.
	expect.OK(t)(confirmWith(t, studio, ben, "M-002"))
	expect.OK(t)(confirmWith(t, studio, mia, "M-001"))
	test.EqOp(t, 2, studio.Count(
		`select count(*) from audit_entries where action in ('benefit_membership.deleted', 'benefit_provider.created')`))
}

func TestConfirmBooking_FamiliesShareANumber(t *testing.T) {
	t.Parallel()
	studio := linksCard(t, booking.Unverified, true)
	for _, name := range []string{"Mia", "Ben"} {
		expect.OK(t)(confirmWith(t, studio, studio.AddMember(name), "M-001"))
	}
}

func TestConfirmBooking_WithNumbersOfAList(t *testing.T) {
	t.Parallel()
	studio := linksCard(t, booking.VerifyByList, false)
	mia := studio.AddMember("Mia")
	expect.Reason(t, fault.BenefitInvalid)(confirmWith(t, studio, mia, "M-001"))
	update := func(change catalog.BenefitNumbers) int {
		p := expect.Value(studio.App.Catalog.UpdateBenefitNumbers(t.Context(), studio.Owner, "LINKS", change))(t)
		test.EqOp(t, p.Numbers, studio.Count(`select count(*) from benefit_numbers`))
		return p.Numbers
	}
	test.EqOp(t, 2, update(catalog.BenefitNumbers{Add: []string{"M-002", "m 001", "M002"}}))
	test.EqOp(t, 2, update(catalog.BenefitNumbers{Add: []string{"M-001"}, Remove: []string{"M-001", "M-009"}}))
	test.EqOp(t, booking.Benefit{Code: "LINKS", Number: "M-001", Percent: 20, Verified: true},
		expect.Value(confirmWith(t, studio, mia, "M-001"))(t))
	test.EqOp(t, 1, studio.Count(`select count(*) from bookings where benefit_number = 'M-001' and benefit_verified`))

	test.EqOp(t, 2, update(catalog.BenefitNumbers{Add: []string{"M-002", "M-003"}, Replace: true}))
	expect.Reason(t, fault.BenefitInvalid)(confirmWith(t, studio, mia, "M-001"))
	test.EqOp(t, 1, update(catalog.BenefitNumbers{Remove: []string{"M-002"}}))
	test.EqOp(t, 0, update(catalog.BenefitNumbers{Replace: true}))
	test.EqOp(t, 4, studio.Count(`select count(*) from audit_entries where action = 'benefit_numbers.updated'`))

	const most = 500_000
	studio.Exec(`update benefit_providers set numbers = $1`, most-1)
	one, two := catalog.BenefitNumbers{Add: []string{"M-004"}}, catalog.BenefitNumbers{Add: []string{"M-005"}}
	expect.OK(t)(studio.App.Catalog.UpdateBenefitNumbers(t.Context(), studio.Owner, "LINKS", one))
	expect.Fault(t, "QUOTA_EXCEEDED limit=500000 quota=benefit_numbers")(
		studio.App.Catalog.UpdateBenefitNumbers(t.Context(), studio.Owner, "LINKS", two))

	expect.Fault(t, "INVALID_FIELD @remove[1]")(studio.App.Catalog.UpdateBenefitNumbers(
		t.Context(), studio.Owner, "LINKS", catalog.BenefitNumbers{Remove: []string{"M-001", "-"}}))
	expect.Reason(t, fault.ProviderNotFound)(studio.App.Catalog.UpdateBenefitNumbers(
		t.Context(), studio.Owner, "OTHER", catalog.BenefitNumbers{Replace: true}))
}

// Of members who confirm with one number at once, one gets it. Negative control: all of a family do.
func TestConfirmBooking_RaceForAMembershipNumber(t *testing.T) {
	t.Parallel()
	const members = 4
	for families, want := range map[bool]int{false: 1, true: members} {
		t.Run(fmt.Sprintf("families=%t", families), func(t *testing.T) {
			t.Parallel()
			studio := linksCard(t, booking.Unverified, families)
			errs := make(chan error, members)
			for i := range members {
				by := studio.AddMember(fmt.Sprintf("Member %d", i))
				held := studio.MustHold(by, studio.AddSession(testkit.Session{}))
				go func() {
					_, err := studio.App.Bookings.ConfirmBooking(t.Context(), testkit.SelfOnly(by), bookings.ConfirmRequest{
						ID: held.ID, ProviderCode: "LINKS", Number: "M-001",
					})
					errs <- err
				}()
			}
			served := 0
			for range members {
				if err := <-errs; err == nil {
					served++
				} else {
					test.EqOp(t, fault.BenefitInvalid, fault.ReasonOf(err), test.Sprint(err))
				}
			}
			test.EqOp(t, want, served)
			test.EqOp(t, want, studio.Count(`select count(*) from bookings where benefit_code is not null`))
		})
	}
}
