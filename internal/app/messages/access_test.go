package messages_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// All owners and who is concerned are told, also those who turned mails off or can no longer sign in.
func TestAccessChanges_AreToldToOwnersAndWhoIsConcerned(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	ben, mia, otto := studio.AddReachable("Ben"), studio.AddReachable("Mia"), studio.AddReachable("Otto")
	studio.Run()
	studio.StopMails(studio.Owner)
	studio.Provider.Take()
	app, ctx := studio.App.Accounts, t.Context()
	edit := func(who tenant.Caller, change func(*member.Member)) error {
		return expect.Error(
			app.UpdateMember(ctx, studio.Owner, who.Member, nil, func(m *member.Member) error { change(m); return nil }),
		)
	}
	assign := func(who tenant.Caller, role string) error {
		return expect.Error(app.AssignRole(ctx, studio.Owner, who.Member, role))
	}
	var offer tenant.TransferID
	for _, step := range []struct {
		act  func() error
		says string // "" if nothing is sent
		to   []string
	}{
		{func() error { return assign(mia, tenant.RoleCoach) }, "", nil},
		{
			func() error { return assign(ben, tenant.RoleAdmin) },
			"Olga Owner made Ben an admin.", []string{"ben", "olga"},
		},
		{
			func() error { return edit(ben, func(m *member.Member) { m.Email = "ben2@example.com" }) },
			"Olga Owner changed the email address, the phone number or the sign-in of Ben, who is an admin.",
			[]string{"ben2", "olga"},
		},
		{
			func() error { return edit(ben, func(m *member.Member) { m.Phone = "+4915112345678" }) },
			"Olga Owner changed the email address, the phone number or the sign-in of Ben, who is an admin.",
			[]string{"ben2", "olga"},
		},
		{func() error { return edit(ben, func(m *member.Member) { m.Notes = "x" }) }, "", nil},
		{
			func() error { return expect.Error(app.DeactivateMember(ctx, studio.Owner, ben.Member)) },
			"Olga Owner deactivated the membership of Ben, who is an admin.", []string{"ben2", "olga"},
		},
		{
			func() error { return expect.Error(app.ReactivateMember(ctx, studio.Owner, ben.Member)) },
			"Olga Owner activated the membership of Ben, who is an admin.", []string{"ben2", "olga"},
		},
		{
			func() error { return assign(otto, tenant.RoleOwner) },
			"Olga Owner made Otto an owner.", []string{"olga", "otto"},
		},
		{
			func() error {
				return expect.Error(app.RevokeRole(ctx, tenant.System(studio.Tenant), ben.Member, tenant.RoleAdmin))
			},
			"The operator of the service took the role from Ben, who is no longer an admin.", []string{"ben2", "olga", "otto"},
		},
		{
			func() error {
				made, err := app.TransferOwnership(ctx, studio.Owner, mia.Member)
				offer = made.ID
				return err
			},
			"Olga Owner asks Mia to become the owner in their place. Mia can confirm it in their profile within 7 days.",
			[]string{"mia", "olga", "otto"},
		},
		{
			func() error { return expect.Error(app.ConfirmOwnershipTransfer(ctx, mia, offer)) },
			"Mia confirmed the transfer of Olga Owner, and is now the owner in their place.", []string{"mia", "olga", "otto"},
		},
	} {
		must.NoError(t, step.act(), must.Sprint(step.says))
		studio.Plan()
		studio.Send()
		var told []string
		for _, m := range studio.Provider.Take() {
			if m.Data["topic"] == string(notify.AccessChanged) && m.Channel == delivery.Email {
				test.StrContains(t, m.Text, step.says)
				test.EqOp(t, "", m.Unsubscribe)
				told = append(told, strings.TrimSuffix(m.To, "@example.com"))
			}
		}
		slices.Sort(told)
		test.Eq(t, step.to, told, test.Sprint(step.says))
	}
	expect.OK(t)(app.GetMe(ctx, mia))
	for _, name := range []string{"Leo", "Kim"} { // who is told of their own change only
		expect.OK(t)(app.AssignRole(ctx, otto, studio.AddReachable(name).Member, tenant.RoleAdmin))
	}
	for _, m := range mails(studio) {
		test.True(t, m.To != "kim@example.com" || strings.Contains(m.Text, "Kim an admin"), test.Sprintf("%+v", m))
	}
}
