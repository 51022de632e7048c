package data

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// countChanged counts the rows that more.sql changes.
func countChanged(tx *pg.Tx, _ tenant.TenantID, plan tenant.PlanID, from civil.Date) {
	bookingdb.CountUsage(tx, id[tenant.TenantID]("changed"), plan, from)
}

var bookingWrites = []write{
	{bookingdb.InsertDisplayLink, args{checkin.DisplayLink{
		ID: id[tenant.DisplayLinkID]("third"), Session: id[tenant.SessionID]("session"), CreatedBy: "ana", CreatedAt: now,
	}}, "display_links +third {created_at=2026-03-01T12:00:00+00:00 created_by=ana session_id=session}"},
	{bookingdb.UpdateDisplayLink, args{checkin.DisplayLink{
		ID: id[tenant.DisplayLinkID]("other"), Screen: id[tenant.ScreenID]("screen"), OpenedAt: now,
	}}, "display_links other {opened_at=2026-03-01T12:00:00+00:00 screen=screen}"},
	{bookingdb.DeleteOldDisplayLinks, args{start.Add(time.Hour)}, ""},
	{bookingdb.DeleteOldDisplayLinks, args{start.Add(time.Hour + time.Microsecond)}, `
display_links -display
display_links -notice
display_links -other`},
	{bookingdb.InsertBooking, args{booking.Booking{
		ID: id[tenant.BookingID]("account"), Session: id[tenant.SessionID]("seventh"),
		Member: id[tenant.MemberID]("member"), Party: 2, Status: booking.Confirmed, Channel: catalog.Online, StartsAt: start,
		EndsAt: start.Add(time.Hour), CreatedBy: "ana", CreatedAt: now, UpdatedAt: now,
		Payment: payment.Payment{Status: payment.Unpaid},
	}}, "bookings +account {channel=ONLINE created_at=2026-03-01T12:00:00+00:00 created_by=ana " +
		"ends_at=2026-03-02T09:00:00+00:00 member_id=member party_size=2 payment_status=UNPAID " +
		"session_id=seventh starts_at=2026-03-02T08:00:00+00:00 status=CONFIRMED " +
		"updated_at=2026-03-01T12:00:00+00:00 version=1}"},
	{bookingdb.InsertSubscription, args{credit.Subscription{
		ID: id[tenant.SubscriptionID]("second"), Member: id[tenant.MemberID]("third"),
		Plan: credit.Plan{ID: id[tenant.PlanID]("plan")}, Status: credit.Active, StartsAt: now, CreatedAt: start,
	}}, "subscriptions +second {created_at=2026-03-02T08:00:00+00:00 member_id=third plan_id=plan " +
		"starts_at=2026-03-01T12:00:00+00:00 status=ACTIVE updated_at=0001-01-01T00:00:00+00:00}"},
	{bookingdb.InsertSubscriptions, args{[]credit.Subscription{{
		ID: id[tenant.SubscriptionID]("second"), Member: id[tenant.MemberID]("third"),
		Plan: credit.Plan{ID: id[tenant.PlanID]("plan")}, Status: credit.Active, StartsAt: now, CreatedAt: start,
	}}}, "subscriptions +second {created_at=2026-03-02T08:00:00+00:00 member_id=third plan_id=plan " +
		"starts_at=2026-03-01T12:00:00+00:00 status=ACTIVE updated_at=0001-01-01T00:00:00+00:00}"},
	{bookingdb.UpdateBooking, args{&booking.Booking{
		ID: id[tenant.BookingID]("booking"), Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("member"),
		Party: 2, Status: booking.Confirmed, Channel: catalog.Online, StartsAt: start, EndsAt: start.Add(time.Hour),
		Payment: payment.Payment{Status: payment.Unpaid}, Version: 1,
	}, now}, "bookings booking {exclusive=false version=2}"},
	{bookingdb.UpdateSubscription, args{credit.Subscription{
		ID: id[tenant.SubscriptionID]("subscription"), Status: credit.Paused, Balance: 3, Lines: 4, StartsAt: now, Version: 2,
	}, now}, "subscriptions subscription {balance=3 lines=4 status=PAUSED version=2}"},
	{bookingdb.MarkNoShows, args{"booking fourth", now}, `
bookings booking {auto_no_show_at=2026-03-01T12:00:00+00:00 status=NO_SHOW version=2}
bookings fourth {auto_no_show_at=2026-03-01T12:00:00+00:00 version=2}`},
	{bookingdb.SetOpening, args{true, "session"}, "sessions session {opening_due=true}"},
	{bookingdb.SetOpening, args{false, "session"}, ""},
	{bookingdb.SetLines, args{"booking", "", booking.ItemCancelled}, `
booking_items other {status=CANCELLED}
booking_items unit {status=CANCELLED}`},
	{bookingdb.SetLines, args{"booking", "line", booking.ItemPending}, `
booking_items other {status=PENDING}
booking_items unit {status=PENDING}`},
	{bookingdb.SetLines, args{"booking", "booking", booking.ItemPending}, ""},
	{bookingdb.MoveBookings, args{
		[]session.Session{{ID: id[tenant.SessionID]("session"), StartsAt: now, EndsAt: start}}, "other", now,
	}, `
bookings booking {ends_at=2026-03-02T08:00:00+00:00 starts_at=2026-03-01T12:00:00+00:00 version=2}
bookings key {ends_at=2026-03-02T08:00:00+00:00 starts_at=2026-03-01T12:00:00+00:00 version=2}
bookings other {ends_at=2026-03-02T08:00:00+00:00 starts_at=2026-03-01T12:00:00+00:00 version=2}
bookings seventh {ends_at=2026-03-02T08:00:00+00:00 starts_at=2026-03-01T12:00:00+00:00 version=2}
bookings sixth {ends_at=2026-03-02T08:00:00+00:00 starts_at=2026-03-01T12:00:00+00:00 version=2}`},
	{bookingdb.MoveSeats, args{
		"session", bookingdb.Seats{Taken: 3, Holds: 1},
	}, "sessions session {holds=1 seats_taken=3}"},
	{bookingdb.MoveUsage, args{[]bookingdb.Usage{
		{Subscription: id[tenant.SubscriptionID]("subscription"), On: day, Used: 2},
		{Subscription: id[tenant.SubscriptionID]("subscription"), Week: true, On: day, Used: -1},
	}}, `
usage subscription DAY 2026-03-02 {used=3}
usage subscription WEEK 2026-03-02 {used=2}`},
	{bookingdb.MoveUsage, args{[]bookingdb.Usage{
		{Subscription: id[tenant.SubscriptionID]("subscription"), Week: true, On: day, Used: -1},
		{Subscription: id[tenant.SubscriptionID]("third"), On: day, Used: -1},
	}}, `
usage subscription WEEK 2026-03-02 {used=2}
usage third DAY 2026-03-02 {used=3}`},
	{bookingdb.CountBooking, args{"third", day, 1}, `
usage third DAY 2026-03-02 {used=5}
usage third WEEK 2026-03-02 {used=5}`},
	{bookingdb.CountUsage, args{"other", day}, `
bookings other {counted=true}
usage +other DAY 2026-03-02 {span=DAY starts_on=2026-03-02 subscription_id=other used=1}
usage +other WEEK 2026-03-02 {span=WEEK starts_on=2026-03-02 subscription_id=other used=1}`},
	{bookingdb.InsertItemReservation, args{
		uuid("fifth"), "third", booking.ItemLine{ID: id[tenant.ItemLineID]("fourth"), Status: booking.ItemConfirmed},
		booking.ItemReservation{
			Item: id[tenant.ItemID]("other"), Number: 3, Span: civil.Span{Start: start, End: start.Add(time.Hour)},
		},
	}, "booking_items +fifth {booking_id=third item_id=other line_id=fourth number=3 " +
		"out_from=2026-03-02T08:00:00+00:00 out_until=2026-03-02T09:00:00+00:00 status=CONFIRMED}"},
	{bookingdb.CountUsage, args{"plan", day}, `
bookings fifth {counted=true}
usage -subscription DAY 2026-03-03
usage subscription WEEK 2026-03-02 {used=1}`},
	{bookingdb.AppendLedger, args{[]credit.Line{{
		ID: id[tenant.CreditLineID]("third"), Subscription: id[tenant.SubscriptionID]("third"), Number: 1, Kind: credit.Grant,
		Amount: 1, Balance: 1, At: now,
	}}}, "credit_entries +third {amount=1 balance=1 created_at=2026-03-01T12:00:00+00:00 kind=GRANT line=1" +
		" subscription_id=third}"},
	{bookingdb.AppendPayment, args{payment.Line{
		ID: id[tenant.PaymentLineID]("third"), Booking: id[tenant.BookingID]("third"), Number: 1,
		Facts: payment.Facts{Kind: payment.Authorize, Amount: credit.Money{Currency: "EUR", Units: 1}}, At: now,
	}}, "payment_entries +third {amount_currency=EUR amount_units=1 booking_id=third " +
		"created_at=2026-03-01T12:00:00+00:00 kind=AUTHORIZATION line=1}"},
	{bookingdb.SetLines, args{"other", "", booking.ItemCancelled}, ""},
	{func(tx *pg.Tx, in tenant.TenantID, to tenant.SessionID, by tenant.SubscriptionID) {
		for _, n := range []int{1, 2} {
			bookingdb.MoveSeats(tx, in, to, bookingdb.Seats{Taken: n, Holds: 2 * n})
			bookingdb.CountBooking(tx, in, by, day, n)
		}
	}, args{"session", "third"}, `
sessions session {holds=6 seats_taken=3}
usage third DAY 2026-03-02 {used=7}
usage third WEEK 2026-03-02 {used=7}`},
	{countChanged, args{"third", day}, `
usage changed third DAY 2026-03-02 {used=1}
usage changed third WEEK 2026-03-02 {used=1}`},
	{countChanged, args{"plan", day}, `
bookings changed fifth {counted=true}
usage -changed subscription DAY 2026-03-03
usage -changed subscription WEEK 2026-03-09
usage changed subscription WEEK 2026-03-02 {used=1}`},
	{countChanged, args{"third", day.AddDays(7)}, ""},
	{countChanged, args{"plan", day.AddDays(7)}, "usage -changed subscription WEEK 2026-03-09"},
	{bookingdb.MoveUsage, args{[]bookingdb.Usage{
		{Subscription: id[tenant.SubscriptionID]("subscription"), On: day.AddDays(1), Used: -1},
	}}, "usage subscription DAY 2026-03-03 {used=1}"},
	{bookingdb.MoveUsage, args{[]bookingdb.Usage{{Subscription: id[tenant.SubscriptionID]("other"), On: day}}}, ""},
	{bookingdb.MoveBookings, args{
		[]session.Session{{ID: id[tenant.SessionID]("other"), StartsAt: now, EndsAt: start}}, "", now,
	}, "bookings fourth {ends_at=2026-03-02T08:00:00+00:00 starts_at=2026-03-01T12:00:00+00:00 version=2}"},
}
