package booking_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// attempt is a request with what Decide knows.
type attempt struct {
	booking.Facts
	booking.Request
}

// try returns a request of one person for an open session, but for some fields.
func try(differ set) attempt {
	return vary.From(attempt{booking.Facts{Slot: openSlot()}, onePerson()}, differ)
}

func (a attempt) decide(at time.Time) (booking.BookResult, error) {
	return booking.Decide(a.Facts, a.Request, at)
}

// pack returns a subscription with three credits, but for some fields.
func pack(differ set) credit.Subscription {
	return vary.From(credit.Subscription{
		ID: id[tenant.SubscriptionID](), Status: credit.Active, Balance: 3, UsedToday: 1, UsedThisWeek: 2,
		Plan: credit.Plan{Kind: credit.Credits},
	}, differ)
}

func TestDecide_SaysWhyTheSessionIsNotOpen(t *testing.T) {
	t.Parallel()
	const notOpen = "SESSION_NOT_OPEN state="
	s := vary.From(openSlot(), set{"Policy.BookingClosesBefore": time.Hour})
	closes, fill := s.StartsAt.Add(-time.Hour), s.StartsAt.Add(time.Minute)
	for name, tt := range map[string]struct {
		differ set
		until  *time.Time
		at     time.Time
		want   string
	}{
		"open":                       {nil, nil, closes.Add(-1), ""},
		"draft":                      {set{"State": catalog.Draft, "Blocked": true}, nil, now, notOpen + "draft"},
		"cancelled":                  {set{"State": catalog.Cancelled}, nil, now, notOpen + "cancelled"},
		"blocked":                    {set{"Blocked": true}, nil, now, notOpen + "blocked"},
		"closed":                     {nil, nil, closes, notOpen + "closed"},
		"closed until the start":     {nil, nil, s.StartsAt.Add(-1), notOpen + "closed"},
		"started":                    {nil, nil, s.StartsAt, notOpen + "started"},
		"filled after it closed":     {nil, &fill, closes, ""},
		"filled after it started":    {nil, &fill, s.StartsAt, ""},
		"no longer filled":           {nil, &fill, fill, notOpen + "started"},
		"filled, and then cancelled": {set{"State": catalog.Cancelled}, &fill, now, notOpen + "cancelled"},
	} {
		expect.Fault(t, tt.want, name)(try(set{"Slot": vary.From(s, tt.differ), "FillUntil": tt.until}).decide(tt.at))
	}
}

func TestDecide_ChecksAdmissionUnlessPromoted(t *testing.T) {
	t.Parallel()
	opens := openSlot().StartsAt.Add(-openSlot().Policy.AdvanceWindow)
	for name, tt := range map[string]struct {
		differ set
		at     time.Time
		want   string
	}{
		"before it opens":           {nil, opens.Add(-1), "ADVANCE_WINDOW opens_at=" + opens.Format(time.RFC3339)},
		"as it opens":               {nil, opens, ""},
		"a closed channel":          {set{"Slot.Channels": []catalog.Channel{catalog.Phone}}, now, closed + "ONLINE"},
		"staff's channel":           {set{"Channel": catalog.Phone}, now, asked + "PHONE " + without + "create_for_others"},
		"staff's channel, by staff": {set{"Channel": catalog.Phone, "May": may(booking.CreateForOthers)}, now, ""},
		"for a hold": {
			set{"Channel": catalog.Phone, "Hold": true, "May": may(booking.CreateForOthers)}, now,
			asked + "PHONE " + without + "hold_for_others",
		},
		"for a hold, by staff": {
			set{"Channel": catalog.WalkIn, "Hold": true, "May": may(booking.HoldForOthers)}, now, "",
		},
		"too few":   {set{"Slot.MinParty": 2}, now, "PARTY_SIZE @party_size max=4 min=2"},
		"just few":  {set{"Slot.MinParty": 1}, now, ""},
		"too many":  {set{"Party": 5}, now, "PARTY_SIZE @party_size max=4 min=1"},
		"just many": {set{"Party": 4}, now, ""},
	} {
		a := try(tt.differ)
		expect.Fault(t, tt.want, name)(a.decide(tt.at))
		a.Promotion = true
		expect.Fault(t, "", name, ", promoted")(a.decide(tt.at))
	}
}

const (
	closed = "CHANNEL_CLOSED @channel channel="
	asked  = "PERMISSION_DENIED @channel channel="
	// without begins the metadata of what is missing.
	without = "permission=booking."
)

func may(permissions ...string) tenant.Permissions {
	all := make(tenant.Permissions)
	for _, p := range permissions {
		all[p] = true
	}
	return all
}

// Each permission opens what it names, and nothing beyond.
func TestDecide_PermissionsOpenWhatIsClosedToOthers(t *testing.T) {
	t.Parallel()
	s := vary.From(openSlot(), set{"Policy.BookingClosesBefore": time.Hour})
	blocked := vary.From(s, set{"Blocked": true})
	opens, closes := s.StartsAt.Add(-s.Policy.AdvanceWindow), s.StartsAt.Add(-time.Hour)
	const after, past = booking.AfterStart, booking.RecordPast
	for name, tt := range map[string]struct {
		slot booking.Slot
		may  tenant.Permissions
		at   time.Time
		want string
	}{
		"closed":                   {s, may(after), closes, ""},
		"started":                  {s, may(after), s.StartsAt, ""},
		"as it ends":               {s, may(after), s.EndsAt.Add(-1), ""},
		"ended":                    {s, may(after), s.EndsAt, "SESSION_NOT_OPEN state=started"},
		"ended, to record":         {s, may(past), s.EndsAt, ""},
		"started, to record":       {s, may(past), s.EndsAt.Add(-1), "SESSION_NOT_OPEN state=started"},
		"before it opens":          {s, may(booking.BeforeOpening), opens.Add(-1), ""},
		"blocked":                  {blocked, may(booking.BlockedSession), closes.Add(-1), ""},
		"blocked, without":         {blocked, may(after, past), now, "SESSION_NOT_OPEN state=blocked"},
		"blocked and started":      {blocked, may(booking.BlockedSession), s.StartsAt, "SESSION_NOT_OPEN state=blocked"},
		"blocked and started, too": {blocked, may(booking.BlockedSession, after), s.StartsAt, ""},
		"a draft": {
			vary.From(s, set{"State": catalog.Draft}), may(after, past, booking.BlockedSession), s.StartsAt,
			"SESSION_NOT_OPEN state=draft",
		},
		"a cancelled one": {
			vary.From(s, set{"State": catalog.Cancelled}), may(after, past, booking.BlockedSession), s.EndsAt,
			"SESSION_NOT_OPEN state=cancelled",
		},
	} {
		a := try(set{"Slot": tt.slot, "May": tt.may})
		expect.Fault(t, tt.want, name)(a.decide(tt.at))
		for what, other := range map[string]set{
			"a hold": {"Hold": true}, "joining": {"JoinWaitlist": true}, "a promotion": {"Promotion": true},
		} {
			_, err := vary.From(a, other).decide(tt.at)
			_, without := vary.From(a, other).without().decide(tt.at)
			test.EqOp(t, faulttest.Text(without), faulttest.Text(err), test.Sprint(name, ", ", what))
		}
		if tt.want == "" { // who waited could never get a seat
			full := vary.From(a, set{"Slot.SeatsTaken": 10})
			expect.Fault(t, "SESSION_FULL", name, ", full")(full.decide(tt.at))
		}
	}
}

func (a attempt) without() attempt { return vary.From(a, set{"May": tenant.Permissions(nil)}) }

func TestDecide_RaisesTheCapacityByWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		differ set
		raised int
		want   string
	}{
		"full":               {set{"Slot.SeatsTaken": 10}, 3, ""},
		"almost full":        {set{"Slot.SeatsTaken": 9}, 2, ""},
		"room for all":       {set{"Slot.SeatsTaken": 7}, 0, ""},
		"unlimited":          {set{"Slot.SeatsTaken": 10, "Slot.Capacity": (*int)(nil)}, 0, ""},
		"without permission": {set{"Slot.SeatsTaken": 10, "May": may(), "RefuseFull": true}, 0, "SESSION_FULL"},
		"a large party":      {set{"Slot.SeatsTaken": 10, "Party": 5}, 0, "PARTY_SIZE @party_size max=4 min=1"},
	} {
		a := vary.From(try(set{"Party": 3, "Raise": true, "May": may(booking.OverCapacity)}), tt.differ)
		got, err := a.decide(now)
		test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(name))
		test.EqOp(t, tt.raised, got.Raised, test.Sprint(name))
		test.False(t, got.Wait, test.Sprint(name))
	}
}

func TestIsFree_OneselfOrOthers(t *testing.T) {
	t.Parallel()
	mia, eve := id[tenant.MemberID](), id[tenant.MemberID]()
	for permission, want := range map[string][2]bool{
		"": {false, false}, booking.OwnFree: {true, false}, booking.CreateForOthers: {false, true},
	} {
		by := tenant.Caller{Member: mia, May: may(permission)}
		test.Eq(t, want, [2]bool{booking.IsFree(by, mia), booking.IsFree(by, eve)}, test.Sprint(permission))
	}
}

// A full session takes neither holds nor promotions, and a member only joins once.
func TestDecide_JoinsTheWaitlistOfAFullSessionOnly(t *testing.T) {
	t.Parallel()
	full := vary.From(openSlot(), set{"SeatsTaken": 10})
	in := " session_id=" + full.ID.String()
	made, entry := id[tenant.BookingID](), id[tenant.EntryID]()
	booked, waits := "ALREADY_BOOKED booking_id="+made.String(), "ALREADY_BOOKED entry_id="+entry.String()
	for name, tt := range map[string]struct {
		differ set
		want   string
		joined string // of a request to join and nothing else
	}{
		"room":            {set{"Slot.Waiting": 4}, "waits", "waits"},
		"no room":         {set{"Slot.Waiting": 5}, "SESSION_FULL", "WAITLIST_FULL limit=5" + in},
		"no waitlist":     {set{"Slot.Policy.WaitlistEnabled": false}, "SESSION_FULL", "WAITLIST_CLOSED" + in},
		"no places":       {set{"Slot.WaitlistCapacity": 0}, "SESSION_FULL", "WAITLIST_CLOSED" + in},
		"an open seat":    {set{"Slot.SeatsTaken": 9}, "booked", "SEATS_AVAILABLE" + in},
		"not wanted":      {set{"RefuseFull": true}, "SESSION_FULL", "waits"},
		"a promotion":     {set{"Promotion": true}, "SESSION_FULL", "waits"},
		"a hold":          {set{"Hold": true}, "SESSION_FULL", "waits"},
		"booked already":  {set{"Booking": made}, booked, booked},
		"waiting already": {set{"Entry": entry}, waits, waits},
		"waiting, and a seat is open": {
			set{"Entry": entry, "Slot.SeatsTaken": 9}, "booked", waits,
		},
		"a hold, and a seat is open": {set{"Entry": entry, "Slot.SeatsTaken": 9, "Hold": true}, "booked", waits},
		"waiting, and booked": {
			set{"Entry": entry, "Slot.SeatsTaken": 9, "Booking": made}, booked + " entry_id=" + entry.String(),
			booked + " entry_id=" + entry.String(),
		},
	} {
		for join, want := range map[bool]string{false: tt.want, true: tt.joined} {
			got, err := vary.From(try(set{"Slot": full, "JoinWaitlist": join}), tt.differ).decide(now)
			result := cmp.Or(faulttest.Text(err), map[bool]string{true: "waits", false: "booked"}[got.Wait])
			test.EqOp(t, want, result, test.Sprintf("%s, to join %v", name, join))
		}
	}
}

func TestDecide_ChargesThePlanByItsTerms(t *testing.T) {
	t.Parallel()
	slot := openSlot()
	busy := func(from, until time.Duration) []civil.Span {
		return []civil.Span{{Start: slot.StartsAt.Add(from), End: slot.StartsAt.Add(until)}}
	}
	for name, tt := range map[string]struct {
		plan               set
		busy               []civil.Span
		staff              bool // who name the subscription
		want               string
		counted, exclusive bool
	}{
		"plain":            {nil, nil, false, "", false, true},
		"overlap":          {nil, busy(59*time.Minute, 2*time.Hour), false, "OVERLAP", false, true},
		"next":             {nil, busy(time.Hour, 2*time.Hour), false, "", false, true},
		"before":           {nil, busy(-time.Hour, 0), false, "", false, true},
		"may overlap":      {set{"Plan.AllowOverlap": true}, busy(0, time.Hour), false, "", false, false},
		"within its quota": {set{"Plan.DailyLimit": 2}, nil, false, "", true, true},
		"at its quota": {
			set{"Plan.WeeklyLimit": 2}, nil, false, "WEEKLY_LIMIT limit=2 week=2026-03-16", true, true,
		},
		"at its quota, by staff": {set{"Plan.WeeklyLimit": 2}, nil, true, "", true, true},
	} {
		paying := pack(tt.plan)
		a := try(set{"Slot": slot, "Subscriptions": []credit.Subscription{paying}, "Busy": tt.busy, "Free": tt.staff})
		a.Subscription = map[bool]tenant.SubscriptionID{true: paying.ID}[tt.staff]
		got, err := a.decide(now)
		test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(name))
		if err == nil {
			test.Eq(t, charged(a, paying, tt.counted, tt.exclusive), got, test.Sprint(name))
		}
	}
}

// charged is the decision that one of the subscriptions pays.
func charged(a attempt, payer credit.Subscription, counted, exclusive bool) booking.BookResult {
	want := booking.BookResult{Payer: &payer, Counted: counted, Exclusive: exclusive}
	want.Ledger, want.Credits, _ = payer.Charge(nil, a.ID, a.Party, a.Actor, now)
	return want
}

// The first booking after the end of a period renews the subscription that pays, and no other.
func TestDecide_RenewsEndedPeriodOfThePayerBeforeCharging(t *testing.T) {
	t.Parallel()
	ended := set{
		"PeriodEndsAt": now.Add(-time.Hour), "Plan.Credits": 8, "Plan.Period": 30 * 24 * time.Hour,
	}
	other, paying := pack(ended), pack(ended)
	a := try(set{"Subscriptions": []credit.Subscription{other, paying}, "Subscription": paying.ID})
	got := expect.Value(a.decide(now))(t)
	test.EqOp(t, 7, got.Payer.Balance)
	var lines []credit.Line
	for _, l := range got.Ledger {
		lines = append(lines, credit.Line{Subscription: l.Subscription, Kind: l.Kind, Amount: l.Amount})
	}
	test.Eq(t, []credit.Line{
		{Subscription: paying.ID, Kind: credit.Expiry, Amount: -3},
		{Subscription: paying.ID, Kind: credit.Period, Amount: 8},
		{Subscription: paying.ID, Kind: credit.Booking, Amount: -1},
	}, lines)
}

func TestDecide_ReturnsFirstErrorInOrder(t *testing.T) {
	t.Parallel()
	far := now.Add(60 * 24 * time.Hour)
	plan := func(status credit.Status, today, week, balance int) []credit.Subscription {
		return []credit.Subscription{pack(set{
			"Status": status, "UsedToday": today, "UsedThisWeek": week, "Balance": balance, "Plan.DailyLimit": 1,
			"Plan.WeeklyLimit": 2,
		})}
	}
	// Everything is wrong. Each step mends what the error before was about.
	a := try(set{
		"Slot.State": catalog.Draft, "Slot.TakesPayments": true, "Slot.SeatsTaken": 10, "Slot.WaitlistCapacity": 0,
		"Slot.StartsAt": far, "Slot.EndsAt": far.Add(time.Hour), "Slot.Channels": nil, "Party": 9,
		"Booking": id[tenant.BookingID](), "Busy": []civil.Span{{Start: now, End: now.Add(90 * time.Minute)}},
	})
	for _, step := range []struct {
		want fault.Reason
		mend set
	}{
		{fault.SessionNotOpen, set{"Slot.State": catalog.Published}},
		{fault.AdvanceWindow, set{"Slot.StartsAt": now.Add(time.Hour), "Slot.EndsAt": now.Add(2 * time.Hour)}},
		{fault.ChannelClosed, set{"Slot.Channels": catalog.Channels()}},
		{fault.PartySize, set{"Party": 1}},
		{fault.AlreadyBooked, set{"Booking": nil}},
		{fault.NoActivePlan, set{"Subscriptions": plan(credit.Debt, 1, 2, 0)}},
		{fault.OutstandingBalance, set{"Subscriptions": plan(credit.Active, 1, 2, 0)}},
		{fault.DailyLimit, set{"Subscriptions": plan(credit.Active, 0, 2, 0)}},
		{fault.WeeklyLimit, set{"Subscriptions": plan(credit.Active, 0, 0, 0)}},
		{fault.Overlap, set{"Busy": nil}},
		{fault.NoCredits, set{"Subscriptions": plan(credit.Active, 0, 0, 1)}},
		{fault.SessionFull, set{"Slot.SeatsTaken": 9}},
		{"", nil},
	} {
		expect.Reason(t, step.want)(a.decide(now))
		a = vary.From(a, step.mend)
	}
}

// Decide books exactly if the party fits, and adds to the waitlist exactly if it does not fit and the waitlist has
// room. It never takes credits without a booking.
func TestCheckBooker_SaysForWhom(t *testing.T) {
	t.Parallel()
	mia := id[tenant.MemberID]()
	for name, tt := range map[string]struct {
		member tenant.MemberID
		guest  bool
		called string
		tier   string
		want   string
	}{
		"a member":              {member: mia},
		"a member with a tier":  {member: mia, tier: "gold", want: "INVALID_FIELD @guest_tier"},
		"no one":                {want: "INVALID_FIELD @member_id"},
		"no one with a tier":    {tier: "gold", want: "INVALID_FIELD @guest_tier"},
		"a guest":               {guest: true, called: "Ada"},
		"a guest with a tier":   {guest: true, called: "Ada", tier: "gold"},
		"a guest without name":  {guest: true, called: " \t", tier: "gold", want: "INVALID_FIELD @contact.name"},
		"a guest in two lines":  {guest: true, called: "A\nB", want: "INVALID_FIELD @contact.name"},
		"a member with no name": {member: mia, called: " "},
	} {
		expect.Fault(t, tt.want, name)(
			booking.CheckBooker(tt.member, tt.guest, booking.Contact{Name: tt.called}, booking.Contact{}, tt.tier))
	}
}

func TestCheckBooker_ChecksTheContact(t *testing.T) {
	t.Parallel()
	for want, contact := range map[string]booking.Contact{
		"":                             {Name: "Ada", Email: "ada@example.com", Phone: "+49 (1511) 234-5678"},
		"INVALID_FIELD @contact.name":  {Name: "Ada\u200bm"},
		"INVALID_FIELD @contact.email": {Name: "Ada", Email: "ada"},
		"INVALID_FIELD @contact.phone": {Name: "Ada", Phone: "01511 2345678"},
	} {
		expect.Fault(t, want, contact.Name)(
			booking.CheckBooker(tenant.MemberID{}, true, contact, booking.Contact{}, ""))
	}
	stored := expect.Value(booking.CheckBooker(tenant.MemberID{}, true, booking.Contact{
		Name: " \u200bZoe\u0308 \u00a0", Email: " zoe@example.com", Phone: "+49 (1511) 234-5678\u200b",
	}, booking.Contact{}, ""))(t)
	test.Eq(t, booking.Contact{Name: "Zo\u00eb", Email: "zoe@example.com", Phone: "+4915112345678"}, stored)
	b := booking.Booking{Contact: booking.Contact{Name: "A\u200bda", Email: "ada", Phone: "01511"}}
	same := func(d *booking.Details) { d.Note = "late" }
	test.Eq(t, b.Contact, expect.Value(booking.Edit(b, same))(t).Contact)
	none := func(d *booking.Details) { d.Contact.Name = "\u200b" }
	expect.Fault(t, "INVALID_FIELD @contact.name")(booking.Edit(b, none))
	other := func(d *booking.Details) { d.Contact.Phone = "01512" }
	expect.Fault(t, "INVALID_FIELD @contact.phone")(booking.Edit(b, other))
}

func TestCheckRepeated_TellsRequestsApart(t *testing.T) {
	t.Parallel()
	by := func(actor, hash string) booking.Referenced {
		return booking.Referenced{Actor: actor, Hash: []byte(hash)}
	}
	expect.Fault(t, "")(booking.CheckRepeated(by("kim", "a"), by("kim", "a")))
	expect.Fault(t, "EXTERNAL_REF_CONFLICT @external_ref")(booking.CheckRepeated(by("kim", "a"), by("kim", "b")))
	expect.Fault(t, "EXTERNAL_REF_CONFLICT @external_ref")(booking.CheckRepeated(by("kim", ""), by("kim", "b")))
	expect.Fault(t, "EXTERNAL_REF_CONFLICT", "someone else's")(booking.CheckRepeated(by("kim", "a"), by("ana", "a")))
}

func TestDecide_BooksIfPartyFitsElseWaitsIfRoom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
		yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
		capacity, balance := number("capacity", 6), number("balance", 5)
		paying := pack(set{"Balance": balance})
		a := try(set{
			"Slot.Capacity": capacity, "Slot.SeatsTaken": number("taken", capacity), "Slot.WaitlistCapacity": 2,
			"Party":        1 + number("party", 3),
			"Slot.Waiting": number("waiting", 2), "Slot.Policy.WaitlistEnabled": yes("enabled"), "Free": yes("free"),
			"RefuseFull": yes("no waitlist"), "Subscriptions": []credit.Subscription{paying},
		})
		fits := a.Slot.SeatsTaken+a.Party <= capacity
		if yes("unlimited") {
			a.Slot.Capacity, fits = nil, true
		}
		want, refused := booking.BookResult{}, fault.Reason("")
		if !a.Free {
			want = charged(a, paying, false, true)
		}
		switch {
		case !a.Free && balance < a.Party:
			refused = fault.NoCredits
		case fits:
		case a.Slot.Policy.WaitlistEnabled && a.Slot.Waiting < 2 && !a.RefuseFull:
			want = booking.BookResult{Wait: true}
		default:
			refused = fault.SessionFull
		}

		got, err := a.decide(now)

		must.EqOp(t, refused, fault.ReasonOf(err))
		if err == nil {
			must.Eq(t, want, got)
		}
		must.EqOp(t, balance, a.Subscriptions[0].Balance, must.Sprint("Decide changed its facts"))
	})
}

func TestEligibilityOf_PredictsDecide(t *testing.T) {
	t.Parallel()
	booked, entry, paying := id[tenant.BookingID](), id[tenant.EntryID](), pack(nil)
	pair := &booking.OfferedSeats{Offer: id[tenant.OfferID](), Seats: 2, Until: now.Add(time.Hour)}
	for name, tt := range map[string]struct {
		differ set
		want   booking.Eligibility
		why    fault.Reason
	}{
		"open":  {nil, booking.Eligibility{Status: booking.Eligible}, ""},
		"full":  {set{"Slot.SeatsTaken": 10}, booking.Eligibility{Status: booking.Waitlist}, ""},
		"draft": {set{"Slot.State": catalog.Draft}, booking.Eligibility{Status: booking.Blocked}, fault.SessionNotOpen},
		"booked": {
			set{"Slot.SeatsTaken": 10, "Booking": booked}, booking.Eligibility{Status: booking.Booked, Booking: booked}, "",
		},
		"waits": {
			set{"Slot.SeatsTaken": 10, "Entry": entry}, booking.Eligibility{Status: booking.Waitlisted, Entry: entry}, "",
		},
		"one seat left, pairs only": {
			set{"Slot.MinParty": 2, "Slot.SeatsTaken": 9, "Slot.WaitlistCapacity": 0},
			booking.Eligibility{Status: booking.Blocked},
			fault.SessionFull,
		},
		"waits, and a seat is open": {
			set{"Slot.SeatsTaken": 9, "Entry": entry}, booking.Eligibility{Status: booking.Eligible, Entry: entry}, "",
		},
		"offered": {
			set{"Slot.SeatsTaken": 10, "Entry": entry, "Offer": pair},
			booking.Eligibility{Status: booking.Offered, Entry: entry, Offer: pair}, "",
		},
		"offered, without credits": {
			set{"Slot.SeatsTaken": 10, "Offer": pair, "Subscriptions": []credit.Subscription{pack(set{"Balance": 1})}},
			booking.Eligibility{Status: booking.Blocked, Offer: pair}, fault.NoCredits,
		},
		"on a plan": {
			set{"Subscriptions": []credit.Subscription{paying}},
			booking.Eligibility{Status: booking.Eligible, Subscription: paying.ID}, "",
		},
	} {
		a := vary.From(try(set{"Party": 0}), tt.differ)
		got := booking.EligibilityOf(a.Facts, a.Request, now)
		if tt.why != "" {
			test.EqOp(t, tt.why, got.Refusal.Reason, test.Sprint(name))
			got.Refusal = nil
		}
		test.Eq(t, tt.want, got, test.Sprint(name))
	}
}

// The seats of a live offer are open to its member, and to no one else: also before booking opens, and after it closes.
func TestDecide_TakesTheSeatsOfAnOffer(t *testing.T) {
	t.Parallel()
	full := vary.From(openSlot(), set{"SeatsTaken": 10, "WaitlistCapacity": 0, "Policy.BookingClosesBefore": time.Hour})
	opens, closes := full.StartsAt.Add(-full.Policy.AdvanceWindow), full.StartsAt.Add(-time.Hour)
	pair := &booking.OfferedSeats{Offer: id[tenant.OfferID](), Seats: 2, Until: full.StartsAt.Add(-time.Minute)}
	for name, tt := range map[string]struct {
		differ set
		at     time.Time
		want   string
	}{
		"as many":                  {nil, now, ""},
		"fewer":                    {set{"Party": 1}, now, ""},
		"more":                     {set{"Party": 3}, now, "SESSION_FULL"},
		"more, with an open seat":  {set{"Party": 3, "Slot.SeatsTaken": 9}, now, ""},
		"two more":                 {set{"Party": 4, "Slot.SeatsTaken": 9}, now, "SESSION_FULL"},
		"without an offer":         {set{"Offer": nil}, now, "SESSION_FULL"},
		"before booking opens":     {nil, opens.Add(-time.Hour), ""},
		"after booking closes":     {nil, closes, ""},
		"when the offer ends":      {nil, pair.Until, "SESSION_NOT_OPEN state=closed"},
		"through a closed channel": {set{"Slot.Channels": []catalog.Channel{catalog.Phone}}, now, closed + "ONLINE"},
		"a party too large":        {set{"Party": 5}, now, "PARTY_SIZE @party_size max=4 min=1"},
		"blocked":                  {set{"Slot.Blocked": true}, now, "SESSION_NOT_OPEN state=blocked"},
	} {
		expect.Fault(t, tt.want, name)(try(set{"Slot": full, "Party": 2, "Offer": pair}).with(tt.differ).decide(tt.at))
	}
}

func (a attempt) with(differ set) attempt { return vary.From(a, differ) }

func TestSlot_CountsOpenSeats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		capacity *int
		taken    int
		open     *int
	}{{new(10), 3, new(7)}, {new(10), 10, new(0)}, {new(10), 12, new(0)}, {nil, 3, nil}} {
		test.Eq(t, tt.open, (booking.Slot{Capacity: tt.capacity, SeatsTaken: tt.taken}).SeatsOpen())
	}
}
