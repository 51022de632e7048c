package simulate

import (
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

func (w *world) subscribe(member *memberRow, plan credit.Plan) error {
	return w.transact(Operation{Name: "subscribe", Member: member.ID, Plan: plan.ID}, func() error {
		if !member.Active {
			return fault.Missing(fault.MemberNotFound, "Member")
		}
		sub, lines := credit.Start(id[tenant.SubscriptionID](&w.tables), member.ID, plan, w.now, nil, w.now)
		u := &subscription{Subscription: sub, ledger: lines, used: make(map[usage]int)}
		insert(&w.tables, w.subs, sub.ID, u)
		appendTo(&w.tables, &member.subs, u)
		w.emit(Event{Kind: Subscribed, Member: member.ID, Subscription: sub.ID, plan: new(sub)})
		return nil
	})
}

func (w *world) setStatus(u *subscription, to credit.Status) error {
	return w.transact(Operation{Name: "set status", Subscription: u.ID, Status: to}, func() error {
		after, lines := credit.Advance(u.Subscription, w.now)
		changed, err := after.SetStatus(to)
		if err != nil || !changed {
			return err
		}
		w.updateSubscription(after, lines)
		w.emit(Event{Kind: SubscriptionChanged, Member: u.Member, Subscription: u.ID, plan: new(after)})
		return nil
	})
}

func (w *world) setActive(member *memberRow, active bool) error {
	return w.transact(Operation{Name: "set member", Member: member.ID, On: active}, func() error {
		saveForUndo(&w.tables, member)
		member.Active = active
		w.emit(Event{Kind: MemberChanged, Member: member.ID, On: active})
		return nil
	})
}
