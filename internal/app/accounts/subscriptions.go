package accounts

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// SubscribeRequest starts a subscription.
type SubscribeRequest struct {
	Member tenant.MemberID
	Plan   tenant.PlanID
	Starts time.Time // zero: now
	Reason string
}

// Subscribe starts a subscription and gives its first credits.
func (s *Service) Subscribe(ctx context.Context, caller tenant.Caller, r SubscribeRequest) (credit.Subscription, error) {
	var sub credit.Subscription
	err := s.engine.Write(ctx, caller, "subscription.start", func(ctx context.Context, tx *engine.Tx) error {
		var plan *credit.Plan
		var who *booking.Member
		var batch pg.Batch
		catalogdb.FindPlan(&batch, tx.Tenant, r.Plan, &plan)
		bookingdb.FindBookingMember(&batch, tx.Tenant, r.Member, &who)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if plan == nil || !plan.Active {
			return fault.Missing(fault.PlanNotFound, "Plan")
		}
		if who == nil || !who.Active {
			return fault.Missing(fault.MemberNotFound, "Member")
		}
		starts := r.Starts
		if starts.IsZero() {
			starts = tx.Now
		}
		const year = 366 * 24 * time.Hour
		if starts.Before(tx.Now.Add(-year)) || starts.After(tx.Now.Add(year)) {
			return fault.Invalid("start_time", "A subscription begins within a year of now.")
		}
		var ledger []credit.Entry
		sub, ledger = credit.Start(tenant.NextID[tenant.SubscriptionID](tx.IDs), who.ID, *plan, starts, tx.Now)
		bookingdb.InsertSubscription(tx.Tx, tx.Tenant, sub)
		seats.WriteCredits(tx, sub, ledger)
		subscriptionChanged(tx, sub, "subscription.started", r.Reason)
		return nil
	}, engine.Answers(&sub))
	return sub, err
}

// SetSubscriptionStatus pauses, resumes, indebts or cancels a subscription.
func (s *Service) SetSubscriptionStatus(ctx context.Context, caller tenant.Caller, id tenant.SubscriptionID, to credit.Status, reason string) (credit.Subscription, error) {
	var after credit.Subscription
	err := s.engine.Write(ctx, caller, "subscription.set_status", func(ctx context.Context, tx *engine.Tx) error {
		s, ledger, err := subscription(ctx, tx, id)
		if err != nil {
			return err
		}
		changed, err := s.SetStatus(to)
		if err != nil {
			return err
		}
		after = s
		if !changed && len(ledger) == 0 {
			return nil
		}
		after.Version++
		after.UpdatedAt = tx.Now
		seats.WriteCredits(tx, after, ledger)
		bookingdb.UpdateSubscription(tx.Tx, tx.Tenant, after, tx.Now)
		subscriptionChanged(tx, after, "subscription.status_set", reason)
		return nil
	}, engine.Answers(&after))
	return after, err
}

// GrantCredits gives credits, or takes them back with an amount below zero.
func (s *Service) GrantCredits(ctx context.Context, caller tenant.Caller, id tenant.SubscriptionID, amount int, reason string) (credit.Entry, credit.Subscription, error) {
	var line credit.Entry
	var after credit.Subscription
	err := s.engine.Write(ctx, caller, "credit.grant", func(ctx context.Context, tx *engine.Tx) error {
		s, ledger, err := subscription(ctx, tx, id)
		if err != nil {
			return err
		}
		moved, err := s.Adjust(amount, tx.Caller.Actor(), reason, tx.Now)
		if err != nil {
			return err
		}
		ledger = append(ledger, moved...)
		seats.WriteCredits(tx, s, ledger)
		line, after = ledger[len(ledger)-1], s
		creditsChanged(tx, line, s, "credit.granted")
		return nil
	}, engine.Answers(&line, &after))
	return line, after, err
}

// RefundCredit gives the credits of a booking back, once, whatever became of the booking.
func (s *Service) RefundCredit(ctx context.Context, caller tenant.Caller, id tenant.BookingID, reason string) (credit.Entry, credit.Subscription, error) {
	var line credit.Entry
	var after credit.Subscription
	err := s.engine.Write(ctx, caller, "credit.refund", func(ctx context.Context, tx *engine.Tx) error {
		var b *booking.Booking
		var payer *credit.Subscription
		var batch pg.Batch
		bookingdb.FindBooking(&batch, tx.Tenant, id, &b)
		bookingdb.FindBookingSubscription(&batch, tx.Tenant, id, &payer)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if b == nil {
			return fault.Missing(fault.BookingNotFound, "Booking")
		}
		if b.Credits == 0 || payer == nil {
			return fault.New(fault.FailedPrecondition, fault.NothingToRefund, "The booking holds no credit.")
		}
		s, renewal := credit.Advance(*payer, tx.Now)
		ledger := s.Refund(renewal, b.ID, b.Credits, tx.Caller.Actor(), reason, tx.Now)
		b.Credits = 0
		bookingdb.UpdateBooking(tx.Tx, tx.Tenant, *b, tx.Now)
		seats.WriteCredits(tx, s, ledger)
		line, after = ledger[len(ledger)-1], s
		creditsChanged(tx, line, after, "credit.refunded")
		return nil
	}, engine.Answers(&line, &after))
	return line, after, err
}

// GetBalance reads a member's subscriptions as they are now: what has lapsed or come due since they were last
// written is counted in.
func (s *Service) GetBalance(ctx context.Context, caller tenant.Caller, member tenant.MemberID, ended bool) ([]credit.Subscription, error) {
	if member.IsZero() {
		member = caller.Member
	}
	if !caller.CanAccess(member) {
		return nil, fault.Missing(fault.MemberNotFound, "Member")
	}
	var who *booking.Member
	var all []credit.Subscription
	var batch pg.Batch
	bookingdb.FindBookingMember(&batch, caller.Tenant, member, &who)
	bookingdb.ListMemberSubscriptions(&batch, caller.Tenant, member, &all)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	if who == nil {
		return nil, fault.Missing(fault.MemberNotFound, "Member")
	}
	now := s.engine.Now()
	var current []credit.Subscription
	for _, s := range all {
		s, _ = credit.Advance(s, now)
		if ended || (s.Status != credit.Expired && s.Status != credit.Cancelled) {
			current = append(current, s)
		}
	}
	return current, nil
}

// ListLedger reads a subscription's lines, newest first, those before the given one; 0 is after the last.
func (s *Service) ListLedger(ctx context.Context, caller tenant.Caller, id tenant.SubscriptionID, before, limit int) ([]credit.Entry, error) {
	var sub *credit.Subscription
	var lines []credit.Entry
	var batch pg.Batch
	bookingdb.FindSubscription(&batch, caller.Tenant, id, &sub)
	bookingdb.ListLedger(&batch, caller.Tenant, id, before, limit, &lines)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	if sub == nil || !caller.CanAccess(sub.Member) {
		return nil, fault.Missing(fault.SubscriptionNotFound, "Subscription")
	}
	return lines, nil
}

// subscription loads a subscription and brings it up to now. The lines that this takes are the caller's to settle.
func subscription(ctx context.Context, tx *engine.Tx, id tenant.SubscriptionID) (credit.Subscription, []credit.Entry, error) {
	var s *credit.Subscription
	var batch pg.Batch
	bookingdb.FindSubscription(&batch, tx.Tenant, id, &s)
	if err := tx.Load(ctx, &batch); err != nil {
		return credit.Subscription{}, nil, err
	}
	if s == nil {
		return credit.Subscription{}, nil, fault.Missing(fault.SubscriptionNotFound, "Subscription")
	}
	current, ledger := credit.Advance(*s, tx.Now)
	return current, ledger, nil
}

func subscriptionChanged(tx *engine.Tx, s credit.Subscription, action, reason string) {
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.SubscriptionChanged, Member: s.Member, Actor: tx.Caller.Actor(), At: tx.Now,
		Data: map[string]any{"subscription_id": s.ID.String(), "status": string(s.Status)},
	})
	tx.Audit(action, "subscription", s.ID.UUID, reason, map[string]any{"status": string(s.Status), "plan": s.Plan.Name})
}

func creditsChanged(tx *engine.Tx, line credit.Entry, s credit.Subscription, action string) {
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.CreditsChanged, Member: s.Member, Booking: line.Booking, Actor: tx.Caller.Actor(), At: tx.Now,
		Data: map[string]any{"subscription_id": s.ID.String(), "amount": line.Amount, "balance": s.Balance},
	})
	tx.Audit(action, "subscription", s.ID.UUID, line.Reason, map[string]any{"amount": line.Amount, "balance": s.Balance})
}
