package waitlists_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// linked is a session whose one seat is offered to Mia Summer, with the token of her link.
func linked(studio *testkit.Studio) (class tenant.SessionID, mia tenant.Caller, o waitlist.Offer, token string) {
	studio.T.Helper()
	studio.SetMode(waitlist.OfferInTurn)
	class, who, booked := studio.AddFullSession(1)
	mia = studio.AddMemberWith(member.Member{Name: "Mia Summer", Phone: "+49301000001"})
	id := studio.MustJoin(mia, testkit.ForSessions(class)).ID
	studio.MustCancel(who[0], booked[0])
	o = studio.LiveOffer(id)
	return class, mia, o, strings.TrimPrefix(studio.App.Waitlists.ClaimURL(studio.Tenant, o.ID),
		"https://berth.example"+waitlists.ClaimPath)
}

// The link of an offer shows it and answers it, without saying whose it is. The page also shows what became of it.
func TestClaims_ShowAndAnswerTheOffer(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	app := studio.App.Waitlists
	studio.EditLocation(studio.Location, func(l *catalog.Location) { l.Address = "Pier Road 1" })
	class, mia, o, token := linked(studio)
	shown := expect.Value(app.GetWaitlistClaim(t.Context(), token))(t)
	want := waitlists.Claim{Tenant: studio.Tenant, Name: "Harbour Yoga", Offer: o}
	want.Offer.Member, want.Offer.Entry = tenant.MemberID{}, tenant.EntryID{}
	test.Eq(t, want, shown)
	page := func() waitlists.ClaimView { return expect.Value(app.ViewClaim(t.Context(), token))(t) }
	view := waitlists.ClaimView{
		Claim: waitlists.Claim{Tenant: studio.Tenant, Name: "Harbour Yoga", Offer: o},
		Now:   studio.Clock.Now(), For: "Mia S.", Address: "Pier Road 1", Waits: true,
	}
	test.Eq(t, view, page())
	for _, link := range []string{"", "forged", token[:len(token)-2] + "AA", token + "A"} {
		for _, err := range []error{
			expect.Error(app.GetWaitlistClaim(t.Context(), link)), expect.Error(app.ViewClaim(t.Context(), link)),
			expect.Error(app.AnswerWaitlistClaim(t.Context(), link, true)),
		} {
			test.EqOp(t, fault.LinkInvalid, fault.ReasonOf(err), test.Sprint(link))
		}
	}
	for range 2 { // answers can be repeated
		answered := expect.Value(app.AnswerWaitlistClaim(t.Context(), token, true))(t)
		test.EqOp(t, waitlist.Accepted, answered.Status)
		test.True(t, answered.Member.IsZero())
		test.True(t, answered.Entry.IsZero())
	}
	expect.Reason(t, fault.WaitlistOfferNotLive)(app.AnswerWaitlistClaim(t.Context(), token, false))
	says := func(waits, returned, calledOff bool) {
		t.Helper()
		view := page()
		test.EqOp(t, waits, view.Waits)
		test.EqOp(t, returned, view.Returned)
		test.EqOp(t, calledOff, view.CalledOff)
	}
	says(false, false, false)
	studio.MustCancel(mia, page().Offer.Booking)
	says(false, true, false)
	expect.OK(t)(studio.App.Schedules.CancelSession(t.Context(), studio.Owner, class, schedules.Removal{}))
	says(false, true, true)
}

// A code from the phone of an offer's member answers it. Another booking does not come of an offer that was accepted.
func TestOffersByCode_AnswerTheOffer(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	app := studio.App.Waitlists
	_, mia, o, _ := linked(studio)
	coded := func(phone, code string) []waitlists.CodedOffer {
		return expect.Value(app.OffersByCode(t.Context(), studio.Tenant, phone, code))(t)
	}
	found := []waitlists.CodedOffer{{ID: o.ID, Member: mia.Member, Live: true}}
	test.Eq(t, found, coded("+49301000001", studio.CodeOf(o)))
	test.SliceEmpty(t, coded("+49301000002", studio.CodeOf(o)))
	for range 2 { // one answer may come twice
		must.NoError(t, app.AnswerOffer(t.Context(), studio.Tenant, found[0], true))
	}
	test.False(t, coded("+49301000001", studio.CodeOf(o))[0].Live)
	studio.MustCancel(mia, studio.Entry(o.Entry).Booking)
	expect.Reason(t, fault.WaitlistOfferNotFound)(app.AnswerOffer(t.Context(), studio.Tenant, found[0], true))
}

// Messages describe an offer by the rules of its queue. Its window begins when its member is told: if that is later
// than planned, the offer is extended, and an event says until when.
func TestStartOffer_ExtendsTheOffer(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	app := studio.App.Waitlists
	_, mia, o, token := linked(studio)
	facts := func() waitlists.OfferFacts {
		var batch pg.Batch
		all := make(map[tenant.OfferID]*waitlists.OfferFacts)
		app.ReadOffers(&batch, studio.Tenant, []tenant.OfferID{o.ID}, all)
		must.NoError(t, studio.DB.ReadBatch(t.Context(), pg.Scope{Tenant: studio.Tenant}, &batch))
		return *all[o.ID]
	}
	started := func(of waitlists.OfferFacts, at time.Time) (ends time.Time, inTime bool) {
		must.NoError(t, studio.DB.InTx(t.Context(), pg.Scope{Tenant: studio.Tenant}, "test.start",
			func(ctx context.Context, tx *pg.Tx) (err error) {
				ends, inTime, err = app.StartOffer(ctx, tx, studio.Tenant, of, time.UTC, studio.Clock.Now(), at)
				return err
			}))
		return ends, inTime
	}
	extended := func() int {
		return studio.Count(`select count(*) from events where type = 'offer.extended' and member_id = $1 and
			data ->> 'offer_id' = $2 and data ->> 'entry_id' = $3 and data ? 'expire_time'`, mia.Member, o.ID, o.Entry)
	}
	planned := facts()
	test.Eq(t, notify.Offer{Live: true, EvenInQuiet: true}, planned.Offer)
	test.True(t, planned.Kept.Equal(o.ExpiresAt), test.Sprintf("%+v", planned))
	test.EqOp(t, studio.CodeOf(o), planned.Code)
	test.StrHasSuffix(t, waitlists.ClaimPath+token, planned.ClaimURL)
	ends, inTime := started(planned, studio.Clock.Now())
	test.True(t, ends.Equal(o.ExpiresAt), test.Sprint(ends, inTime))
	test.True(t, inTime, test.Sprint(ends, inTime))
	test.EqOp(t, 0, extended())
	late := o.CreatedAt.Add(20 * time.Minute)
	ends, inTime = started(planned, late)
	test.True(t, ends.Equal(late.Add(30*time.Minute)), test.Sprint(ends, inTime))
	test.True(t, inTime, test.Sprint(ends, inTime))
	test.EqOp(t, 1, extended())
	test.True(t, studio.LiveOffer(o.Entry).ExpiresAt.Equal(ends), test.Sprint("the offer ends when its member was told"))
	studio.SetPolicy(func(p *catalog.PolicyLayer) { p.BookingClosesBefore = new(time.Hour) })
	_, inTime = started(planned, o.SessionStarts.Add(-time.Hour))
	test.False(t, inTime, test.Sprint("booking is closed"))
	studio.Clock.Set(ends)
	for over, reserved := range []bool{false, true} {
		edit(studio, func(s *waitlist.Settings) { s.OffersInQuietHours, s.SMSMinScore = nil, new(o.Score+over) })
		test.Eq(t, notify.Offer{NoSMS: reserved}, facts().Offer, test.Sprint("it has expired"))
	}
	studio.Exec(`insert into deliveries (tenant_id, id, topic, status, recipient, offer_id, created_at, updated_at)
		select tenant_id, id, 'OFFER', 'SENT', member_id, id, created_at, created_at
		from waitlist_offers where id = $1`, o.ID)
	test.True(t, facts().ExpiresAt.Equal(ends), test.Sprint("a message said until when it can be accepted"))
}
