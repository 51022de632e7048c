package history

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Ledger is a subscription that pays with credits, one for each seat.
type Ledger struct {
	ID     string `json:"id"`
	Opened int    `json:"opened"` // the balance at the start
}

// CheckLedger looks for an order of all operations that changed or read a subscription's credits.
func CheckLedger(l Ledger, all []Operation, timeout time.Duration) Verdict {
	mine := filter(all, func(op Operation) bool { return op.Payer == l.ID })
	return check("subscription "+l.ID, l.model(), mine, timeout)
}

func (l Ledger) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return (&account{balance: l.Opened}).encode() },
		Step: func(state, input, output any) (bool, any) {
			text, _ := state.(string)
			call, _ := input.(Operation)
			result, _ := output.(Operation)
			p := decodeAccount(text)
			ok := p.step(call, result)
			return ok && p.balance >= 0, p.encode()
		},
		DescribeOperation: func(_, output any) string {
			op, _ := output.(Operation)
			return op.describe()
		},
		DescribeState: func(state any) string {
			text, _ := state.(string)
			p := decodeAccount(text)
			return fmt.Sprintf("%d left, paid for %v", p.balance, p.paid)
		},
	}
}

// account is a balance with the places that it paid for.
type account struct {
	balance int
	paid    []paid
}

type paid struct{ place, credits int }

func decodeAccount(text string) *account {
	b := []byte(text)
	p := &account{balance: int(int32(binary.BigEndian.Uint32(b)))}
	for b = b[4:]; len(b) > 0; b = b[5:] {
		p.paid = append(p.paid, paid{int(binary.BigEndian.Uint32(b)), int(b[4])})
	}
	return p
}

func (a *account) encode() string {
	slices.SortFunc(a.paid, func(x, y paid) int { return x.place - y.place })
	b := binary.BigEndian.AppendUint32(nil, uint32(int32(a.balance)))
	for _, one := range a.paid {
		b = append(binary.BigEndian.AppendUint32(b, uint32(one.place)), byte(one.credits))
	}
	return string(b)
}

func (a *account) find(place int) int {
	return slices.IndexFunc(a.paid, func(one paid) bool { return one.place == place })
}

func (a *account) pay(call Operation) {
	a.balance -= call.Party
	a.paid = append(a.paid, paid{call.Place, call.Party})
}

func (a *account) refund(at int) {
	a.balance += a.paid[at].credits
	a.paid = slices.Delete(a.paid, at, at+1)
}

func (a *account) step(call, result Operation) bool {
	at := a.find(call.Place)
	switch result.Outcome {
	case Unknown:
		a.applyUnknown(call, at)
		return true
	case NoCredits:
		return a.balance < call.Party
	default:
	}
	switch call.Kind {
	case Book, Confirm:
		if result.Outcome != Booked && result.Outcome != Done {
			return true
		}
		if at >= 0 {
			return call.Kind == Confirm // a repeated confirmation changes nothing
		}
		a.pay(call)
		return result.Moved == -call.Party
	case Cancel:
		switch {
		case result.Outcome != Done:
			return at < 0 // it was refunded before
		case result.Moved == 0:
			return at < 0
		case at < 0 || a.paid[at].credits != result.Moved:
			return false
		}
		a.refund(at)
		return true
	case Grant:
		if result.Outcome != Done {
			return true
		}
		a.balance += call.Amount
		return result.Left == a.balance
	case Balance:
		return result.Left == a.balance
	default:
		return true
	}
}

// applyUnknown applies an operation without a response, as far as possible.
func (a *account) applyUnknown(call Operation, at int) {
	switch {
	case (call.Kind == Book || call.Kind == Confirm) && at < 0 && a.balance >= call.Party:
		a.pay(call)
	case call.Kind == Cancel && at >= 0:
		a.refund(at)
	case call.Kind == Grant:
		a.balance += call.Amount
	}
}
