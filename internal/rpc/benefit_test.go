package rpc

import (
	"fmt"
	"testing"
	"time"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Who does not edit the catalog learns neither how membership numbers look nor how many there are.
func TestBenefitProviders_HideWhatHelpsToGuess(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	kit := s.Studio(t, testkit.NewClock(time.Now()))
	expect.OK(t)(s.App.Catalog.CreateBenefitProvider(t.Context(), kit.Owner, booking.BenefitProvider{
		Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Active: true, Verification: booking.VerifyByList,
	}))
	expect.OK(t)(s.App.Catalog.UpdateBenefitNumbers(
		t.Context(), kit.Owner, "LINKS", catalog.BenefitNumbers{Add: []string{"M-001", "M-002"}},
	))
	for subject, want := range map[string]string{
		"owner": `M-\d{3} 2`, "coach": " 0", "member": " 0", kit.AddPartner("Portal").Subject: " 0",
	} {
		answer := expect.Value(s.call(t, s.Token(t, subject), &v1.ListBenefitProvidersRequest{}))(t)
		for _, p := range answer.(*v1.ListBenefitProvidersResponse).Providers {
			test.EqOp(t, want, fmt.Sprintf("%s %d", p.NumberPattern, p.NumberCount), test.Sprint(subject))
		}
		one := expect.Value(s.call(t, s.Token(t, subject), &v1.GetBenefitProviderRequest{ProviderCode: "LINKS"}))(t)
		p := one.(*v1.GetBenefitProviderResponse).Provider
		test.EqOp(t, want, fmt.Sprintf("%s %d", p.NumberPattern, p.NumberCount), test.Sprint(subject))
	}
}
