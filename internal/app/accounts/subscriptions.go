package accounts

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/credits"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// NewSubscription starts a subscription.
type NewSubscription struct {
	Member tenant.MemberID
	Plan   tenant.PlanID
	Starts time.Time  // zero: now
	Ends   *time.Time // nil: after the plan's term
	Reason string
}

// CreateSubscription starts a subscription and grants its first credits.
func (s *Service) CreateSubscription(
	ctx context.Context, caller tenant.Caller, r NewSubscription,
) (credit.Subscription, error) {
	return engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "subscription.create", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (none credit.Subscription, err error) {
			var plan *credit.Plan
			var m *booking.Member
			var batch pg.Batch
			catalogdb.FindPlan(&batch, tx.Tenant, r.Plan, &plan)
			bookingdb.FindBookingMember(&batch, tx.Tenant, r.Member, &m)
			if err := tx.Load(ctx, &batch); err != nil {
				return none, err
			}
			if plan == nil || !plan.Active {
				return none, fault.Missing(fault.PlanNotFound, "Plan")
			}
			if m == nil || !m.Active {
				return none, errNoMember
			}
			if !tx.Caller.CanSettle(m.ID) {
				return none, credit.ErrOwnCredits
			}
			starts, err := credit.StartTime(r.Starts, tx.Now)
			if err != nil {
				return none, err
			}
			if err := credit.CheckEnd(starts, r.Ends, tx.Now); err != nil {
				return none, err
			}
			sub, ledger := credit.Start(
				tenant.NextID[tenant.SubscriptionID](tx.IDs), m.ID, *plan, starts, r.Ends, tx.Now)
			bookingdb.InsertSubscription(tx.Tx, tx.Tenant, sub)
			credits.Write(tx, sub, ledger)
			subscriptionChanged(tx, credit.Subscription{}, sub, "subscription.created", r.Reason)
			return sub, nil
		})
}

// UpdateSubscription edits a subscription. If expect is not nil it must be the subscription's version. Bookings that
// were made on it stay, also those after a new end.
func (s *Service) UpdateSubscription(
	ctx context.Context, caller tenant.Caller, id tenant.SubscriptionID, expect *int,
	edit func(*credit.Subscription), reason string,
) (credit.Subscription, error) {
	return engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "subscription.update", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (credit.Subscription, error) {
			before, ledger, err := findSubscription(ctx, tx, id)
			if err != nil {
				return before, err
			}
			if err := fault.CheckVersion(expect, before.Version); err != nil {
				return before, err
			}
			after := before
			edit(&after)
			changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
			if changes == nil {
				return before, nil
			}
			if err := after.CheckEdit(tx.Now); err != nil {
				return before, err
			}
			after.Version, after.UpdatedAt = before.Version+1, tx.Now
			credits.Write(tx, after, ledger)
			bookingdb.UpdateSubscription(tx.Tx, tx.Tenant, after, tx.Now)
			credits.RecordChange(tx, before, after)
			record.Audit(tx, "subscription.updated", "subscription", id.UUID, reason, changes)
			return after, nil
		})
}

// GetSubscription reads a subscription as of now.
func (s *Service) GetSubscription(
	ctx context.Context, caller tenant.Caller, id tenant.SubscriptionID,
) (credit.Subscription, error) {
	stored, err := engine.Get(ctx, s.engine, caller, errNoSubscription, func(b *pg.Batch, into **credit.Subscription) {
		bookingdb.FindSubscription(b, caller.Tenant, id, into)
	})
	if err == nil && !caller.CanAccess(stored.Member) {
		err = errNoSubscription
	}
	if err != nil {
		return credit.Subscription{}, err
	}
	current, _ := credit.Advance(stored, s.engine.Now())
	return current, nil
}

// SubscriptionQuery selects subscriptions.
type SubscriptionQuery = bookingdb.SubscriptionQuery

// ListSubscriptions reads subscriptions as of now, the newest first. A caller with SelfOnly gets their own.
func (s *Service) ListSubscriptions(
	ctx context.Context, caller tenant.Caller, q SubscriptionQuery,
) ([]credit.Subscription, error) {
	if caller.SelfOnly {
		if q.Member.IsZero() {
			q.Member = caller.Member
		}
		if !caller.CanAccess(q.Member) {
			return nil, nil
		}
	}
	if len(q.Statuses) == 0 {
		q.Statuses = credit.OpenStatuses()
	}
	q.Now = s.engine.Now()
	found, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]credit.Subscription) {
		bookingdb.ListSubscriptions(b, caller.Tenant, q, into)
	})
	for i := range found {
		found[i], _ = credit.Advance(found[i], q.Now)
	}
	return found, err
}

// SetSubscriptionStatus changes the status of a subscription.
func (s *Service) SetSubscriptionStatus(
	ctx context.Context, caller tenant.Caller, id tenant.SubscriptionID, to credit.Status, reason string,
) (credit.Subscription, error) {
	t := engine.Transaction{Name: "subscription.set_status", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t,
		func(ctx context.Context, tx *engine.Tx) (credit.Subscription, error) {
			sub, ledger, err := findSubscription(ctx, tx, id)
			if err != nil {
				return sub, err
			}
			before := sub
			changed, err := sub.SetStatus(to)
			if err != nil || !changed && len(ledger) == 0 {
				return sub, err
			}
			sub.Version++
			sub.UpdatedAt = tx.Now
			credits.Write(tx, sub, ledger)
			bookingdb.UpdateSubscription(tx.Tx, tx.Tenant, sub, tx.Now)
			subscriptionChanged(tx, before, sub, "subscription.status_set", reason)
			return sub, nil
		})
}

// CreditLine is a line of the ledger with what is shown of the session of its booking.
type CreditLine = bookingdb.ListedLine

// creditChange is a new line of the ledger, and the subscription after it.
type creditChange struct {
	Line         CreditLine
	Subscription credit.Subscription
}

// GrantCredits grants credits. A negative amount removes them.
func (s *Service) GrantCredits(
	ctx context.Context, caller tenant.Caller, id tenant.SubscriptionID, amount int, reason string,
) (CreditLine, credit.Subscription, error) {
	granted, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "credit.grant", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (creditChange, error) {
			sub, ledger, err := findSubscription(ctx, tx, id)
			if err != nil {
				return creditChange{}, err
			}
			adjustment, err := sub.Adjust(amount, tx.Caller.Actor(), reason, tx.Now)
			if err != nil {
				return creditChange{}, err
			}
			return writeCredits(tx, sub, append(ledger, adjustment...), "credit.granted"), nil
		})
	return granted.Line, granted.Subscription, err
}

// RefundCredit returns the credits of a booking, whatever its status is. It does so once.
func (s *Service) RefundCredit(
	ctx context.Context, caller tenant.Caller, id tenant.BookingID, reason string,
) (CreditLine, credit.Subscription, error) {
	refunded, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "credit.refund", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (creditChange, error) {
			var payer *credit.Subscription
			b, err := engine.Find(ctx, tx, fault.Missing(fault.BookingNotFound, "Booking"),
				func(b *pg.Batch, into **booking.Booking) {
					bookingdb.FindBooking(b, tx.Tenant, id, into)
					bookingdb.FindBookingSubscription(b, tx.Tenant, id, &payer)
				})
			if err == nil && !tx.Caller.CanSettle(b.Member) {
				err = credit.ErrOwnCredits
			}
			if err != nil {
				return creditChange{}, err
			}
			b, sub, ledger, err := booking.RefundCredits(b, payer, tx.Caller.Actor(), reason, tx.Now)
			if err != nil {
				return creditChange{}, err
			}
			bookingdb.UpdateBooking(tx.Tx, tx.Tenant, &b, tx.Now)
			change := writeCredits(tx, sub, ledger, "credit.refunded")
			change.Line.Session = b.Summary()
			return change, nil
		})
	return refunded.Line, refunded.Subscription, err
}

// GetBalance reads a member's subscriptions as of now: it counts what has expired or become due since they were last
// written. Without statuses, it reads those that have not ended.
func (s *Service) GetBalance(
	ctx context.Context, caller tenant.Caller, member tenant.MemberID, statuses []credit.Status,
) ([]credit.Subscription, error) {
	member, err := ownMember(caller, member)
	if err != nil {
		return nil, err
	}
	var all []credit.Subscription
	_, err = engine.Get(ctx, s.engine, caller, errNoMember, func(b *pg.Batch, into **booking.Member) {
		bookingdb.FindBookingMember(b, caller.Tenant, member, into)
		bookingdb.ListMemberSubscriptions(b, caller.Tenant, member, &all)
	})
	if err != nil {
		return nil, err
	}
	if len(statuses) == 0 {
		statuses = credit.OpenStatuses()
	}
	now := s.engine.Now()
	var current []credit.Subscription
	for _, sub := range all {
		sub, _ = credit.Advance(sub, now)
		if slices.Contains(statuses, sub.Status) {
			current = append(current, sub)
		}
	}
	return current, nil
}

// LineQuery selects lines of a ledger.
type LineQuery = bookingdb.LineQuery

// ListCreditLines reads the lines of a subscription, the newest first.
func (s *Service) ListCreditLines(
	ctx context.Context, caller tenant.Caller, id tenant.SubscriptionID, q LineQuery,
) ([]CreditLine, error) {
	var lines []CreditLine
	sub, err := engine.Get(ctx, s.engine, caller, errNoSubscription, func(b *pg.Batch, into **credit.Subscription) {
		bookingdb.FindSubscription(b, caller.Tenant, id, into)
		bookingdb.ListCreditLines(b, caller.Tenant, id, q, &lines)
	})
	if err != nil {
		return nil, err
	}
	if !caller.CanAccess(sub.Member) {
		return nil, errNoSubscription
	}
	return lines, nil
}

var errNoSubscription = fault.Missing(fault.SubscriptionNotFound, "Subscription")

// findSubscription reads a subscription that the caller may change, and advances it to now. The caller writes the
// ledger lines that this adds.
func findSubscription(
	ctx context.Context, tx *engine.Tx, id tenant.SubscriptionID,
) (credit.Subscription, []credit.Line, error) {
	stored, err := engine.Find(ctx, tx, errNoSubscription, func(b *pg.Batch, into **credit.Subscription) {
		bookingdb.FindSubscription(b, tx.Tenant, id, into)
	})
	if err == nil && !tx.Caller.CanSettle(stored.Member) {
		err = credit.ErrOwnCredits
	}
	if err != nil {
		return stored, nil, err
	}
	current, ledger := credit.Advance(stored, tx.Now)
	return current, ledger, nil
}

func subscriptionChanged(tx *engine.Tx, before, s credit.Subscription, action, reason string) {
	credits.RecordChange(tx, before, s)
	record.Audit(tx, action, "subscription", s.ID.UUID, reason, map[string]any{
		"status": string(s.Status), "plan": s.Plan.Name,
	})
}

// writeCredits writes new lines of the ledger, and records the last one.
func writeCredits(tx *engine.Tx, s credit.Subscription, ledger []credit.Line, action string) creditChange {
	credits.Write(tx, s, ledger)
	line := ledger[len(ledger)-1]
	record.Event(tx, outbox.Event{
		Member: s.Member, Booking: line.Booking,
		Data:  event.CreditsChanged{Subscription: s.ID, Amount: line.Amount, Balance: s.Balance},
		Facts: event.NoFacts,
	})
	record.Audit(tx, action, "subscription", s.ID.UUID, line.Reason, map[string]any{
		"amount": line.Amount, "balance": s.Balance,
	})
	return creditChange{CreditLine{Line: line}, s}
}
