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
	Opened int    `json:"opened"` // its balance at the beginning
}

// CheckLedger looks for an order of all that moved or read a subscription's credits.
func CheckLedger(l Ledger, all []Operation, patience time.Duration) Verdict {
	mine := pick(all, func(op Operation) bool { return op.Payer == l.ID })
	return check("subscription "+l.ID, l.model(), mine, patience)
}

func (l Ledger) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return (&purse{balance: l.Opened}).encode() },
		Step: func(state, input, output any) (bool, any) {
			text, _ := state.(string)
			asked, _ := input.(Operation)
			told, _ := output.(Operation)
			p := openPurse(text)
			ok := p.step(asked, told)
			return ok && p.balance >= 0, p.encode()
		},
		DescribeOperation: func(_, output any) string {
			op, _ := output.(Operation)
			return op.describe()
		},
		DescribeState: func(state any) string {
			text, _ := state.(string)
			p := openPurse(text)
			return fmt.Sprintf("%d left, paid for %v", p.balance, p.paid)
		},
	}
}

// purse is a balance with the places that it has paid for.
type purse struct {
	balance int
	paid    []paid
}

type paid struct{ place, credits int }

func openPurse(text string) *purse {
	b := []byte(text)
	p := &purse{balance: int(int32(binary.BigEndian.Uint32(b)))}
	for b = b[4:]; len(b) > 0; b = b[5:] {
		p.paid = append(p.paid, paid{int(binary.BigEndian.Uint32(b)), int(b[4])})
	}
	return p
}

func (p *purse) encode() string {
	slices.SortFunc(p.paid, func(a, b paid) int { return a.place - b.place })
	b := binary.BigEndian.AppendUint32(nil, uint32(int32(p.balance)))
	for _, one := range p.paid {
		b = append(binary.BigEndian.AppendUint32(b, uint32(one.place)), byte(one.credits))
	}
	return string(b)
}

func (p *purse) find(place int) int {
	return slices.IndexFunc(p.paid, func(one paid) bool { return one.place == place })
}

func (p *purse) pay(asked Operation) {
	p.balance -= asked.Party
	p.paid = append(p.paid, paid{asked.Place, asked.Party})
}

func (p *purse) giveBack(at int) {
	p.balance += p.paid[at].credits
	p.paid = slices.Delete(p.paid, at, at+1)
}

func (p *purse) step(asked, told Operation) bool {
	at := p.find(asked.Place)
	switch told.Outcome {
	case Unknown:
		p.perhaps(asked, at)
		return true
	case Broke:
		return p.balance < asked.Party
	default:
	}
	switch asked.Kind {
	case Book, Confirm:
		if told.Outcome != Booked && told.Outcome != Done {
			return true
		}
		if at >= 0 {
			return asked.Kind == Confirm // again: it moves nothing
		}
		p.pay(asked)
		return told.Moved == -asked.Party
	case Cancel:
		switch {
		case told.Outcome != Done:
			return at < 0 // it had been given back before
		case told.Moved == 0:
			return at < 0
		case at < 0 || p.paid[at].credits != told.Moved:
			return false
		}
		p.giveBack(at)
		return true
	case Grant:
		if told.Outcome != Done {
			return true
		}
		p.balance += asked.Amount
		return told.Left == p.balance
	case Balance:
		return told.Left == p.balance
	default:
		return true
	}
}

// perhaps does what can be done of something that was never answered.
func (p *purse) perhaps(asked Operation, at int) {
	switch {
	case (asked.Kind == Book || asked.Kind == Confirm) && at < 0 && p.balance >= asked.Party:
		p.pay(asked)
	case asked.Kind == Cancel && at >= 0:
		p.giveBack(at)
	case asked.Kind == Grant:
		p.balance += asked.Amount
	}
}
