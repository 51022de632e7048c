package payment_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"

	"github.com/berthhq/berth/internal/testkit/expect"
)

var now = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

func facts(kind payment.Kind, units int64, reference string) payment.Facts {
	return payment.Facts{
		Kind: kind, Amount: credit.Money{Currency: "EUR", Units: units}, Method: "card", Reference: reference,
	}
}

// post adds the line of facts, if they make one.
func post(lines []payment.Line, f payment.Facts) ([]payment.Line, error) {
	at := now.Add(time.Duration(len(lines)) * time.Minute)
	var l *payment.Line
	var err error
	if f.Kind == payment.Refund {
		f.Kind = ""
		l, err = payment.Return(lines, f, tenant.BookingID{}, "ana", at)
	} else {
		l, err = payment.Record(lines, f, "", tenant.BookingID{}, "ana", at)
	}
	if err != nil || l == nil {
		return lines, err
	}
	return append(lines, *l), nil
}

func TestOf_DerivesTheStatusFromTheLines(t *testing.T) {
	t.Parallel()
	authorized, captured := facts(payment.Authorize, 60, ""), facts(payment.Capture, 50, "")
	for name, tt := range map[string]struct {
		facts            []payment.Facts
		status           payment.Status
		amount, refunded int64
	}{
		"nothing":           {nil, payment.Unpaid, 0, 0},
		"authorized":        {[]payment.Facts{authorized}, payment.Authorized, 60, 0},
		"captured":          {[]payment.Facts{authorized, captured}, payment.Captured, 50, 0},
		"captured twice":    {[]payment.Facts{captured, facts(payment.Capture, 50, "2")}, payment.Captured, 100, 0},
		"authorized late":   {[]payment.Facts{captured, authorized}, payment.Captured, 50, 0},
		"friends pay alike": {[]payment.Facts{captured, captured}, payment.Captured, 100, 0},
		"a known reference": {
			[]payment.Facts{facts(payment.Capture, 50, "r"), facts(payment.Capture, 50, "r")}, payment.Captured, 50, 0,
		},
		"written off":        {[]payment.Facts{authorized, facts(payment.WriteOff, 60, "")}, payment.WrittenOff, 60, 0},
		"partly written off": {[]payment.Facts{captured, facts(payment.WriteOff, 10, "")}, payment.Captured, 50, 0},
		"partly refunded":    {[]payment.Facts{captured, facts(payment.Refund, 20, "")}, payment.Captured, 50, 20},
		"refunded":           {[]payment.Facts{captured, facts(payment.Refund, 50, "")}, payment.Refunded, 50, 50},
		"refunded in parts": {
			[]payment.Facts{captured, facts(payment.Refund, 25, ""), facts(payment.Refund, 25, "")}, payment.Refunded, 50, 50,
		},
		"a refund again": {
			[]payment.Facts{captured, facts(payment.Refund, 20, "r"), facts(payment.Refund, 20, "r")}, payment.Captured, 50, 20,
		},
		"paid after a refund": {
			[]payment.Facts{captured, facts(payment.Refund, 50, ""), facts(payment.Capture, 9, "")}, payment.Captured, 59, 50,
		},
	} {
		var lines []payment.Line
		for _, f := range tt.facts {
			var err error
			lines, err = post(lines, f)
			must.NoError(t, err, must.Sprint(name))
		}
		got := payment.Of(lines, nil)
		test.EqOp(t, tt.status, got.Status, test.Sprint(name))
		test.EqOp(t, tt.amount, got.Amount.Units, test.Sprint(name))
		test.EqOp(t, tt.refunded, got.Refunded.Units, test.Sprint(name))
		if len(lines) > 0 {
			test.True(t, got.PaidAt.Equal(now), test.Sprint(name))
			test.EqOp(t, "card", got.Method, test.Sprint(name))
		}
	}
}

func TestLines_RefundNoMoreThanWasCaptured(t *testing.T) {
	t.Parallel()
	kinds := []payment.Kind{payment.Authorize, payment.Capture, payment.Refund, payment.WriteOff}
	rapid.Check(t, func(t *rapid.T) {
		var lines []payment.Line
		totals := map[payment.Kind]int64{}
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			f := facts(rapid.SampledFrom(kinds).Draw(t, "kind"), 0, "")
			cents := rapid.Int64Range(1, 300).Draw(t, "cents")
			f.Amount.Units, f.Amount.Nanos = cents/100, int32(cents%100)*10_000_000
			after, err := post(lines, f)
			exceeds := f.Kind == payment.Refund && totals[payment.Refund]+cents > totals[payment.Capture]
			must.True(
				t, exceeds == (fault.ReasonOf(err) == fault.RefundExceedsCaptured),
				must.Sprintf("%+v after %+v: %v", f, lines, err),
			)
			if len(after) > len(lines) {
				totals[f.Kind] += cents
			}
			lines = after
			for i, l := range lines {
				must.True(t, l.Number == i+1, must.Sprintf("line %d is %d", i+1, l.Number))
			}
			p := payment.Of(lines, nil)
			must.True(
				t, p.Refunded.Units*100+int64(p.Refunded.Nanos)/10_000_000 == totals[payment.Refund],
				must.Sprintf("%+v, want %v", p, totals),
			)
		}
	})
}

func TestFacts_NameTheInvalidField(t *testing.T) {
	t.Parallel()
	huge := expect.Value(post(nil, facts(payment.Capture, 1<<62, "")))(t)
	money := func(kind payment.Kind, amount credit.Money) payment.Facts {
		return payment.Facts{Kind: kind, Amount: amount}
	}
	for name, tt := range map[string]struct {
		after []payment.Line
		facts payment.Facts
		want  string
	}{
		"no currency": {
			nil, payment.Facts{Kind: payment.Capture}, "INVALID_FIELD @payment.amount.currency_code",
		},
		"a currency in small letters": {
			nil, money(payment.Capture, credit.Money{Currency: "eur"}), "INVALID_FIELD @payment.amount.currency_code",
		},
		"a refund in no currency": {
			nil, money(payment.Refund, credit.Money{Units: 1}), "INVALID_FIELD @amount.currency_code",
		},
		"a negative amount": {nil, facts(payment.Capture, -1, ""), "INVALID_FIELD @payment.amount"},
		"a negative part of a unit": {
			nil, money(payment.Capture, credit.Money{Currency: "EUR", Nanos: -1}), "INVALID_FIELD @payment.amount",
		},
		"parts that are a unit": {
			nil, money(payment.Capture, credit.Money{Currency: "EUR", Nanos: 1_000_000_000}), "INVALID_FIELD @payment.amount",
		},
		"less than a unit": {nil, money(payment.Capture, credit.Money{Currency: "EUR", Nanos: 999_999_999}), ""},
		"a refund of zero": {huge, facts(payment.Refund, 0, ""), "INVALID_FIELD @amount"},
		"the largest sum":  {huge, facts(payment.Capture, 1<<62-1, "2"), ""},
		"too large a sum":  {huge, facts(payment.Capture, 1<<62, "2"), "INVALID_FIELD @payment.amount"},
		"too large a refund": {
			huge, facts(payment.Refund, 1<<62+1, ""), "REFUND_EXCEEDS_CAPTURED @amount",
		},
		"another currency": {
			huge, money(payment.Refund, credit.Money{Currency: "USD", Units: 1}), "INVALID_FIELD @amount.currency_code",
		},
		"no facts of that kind": {huge, facts(payment.Authorize, 0, ""), ""},
	} {
		_, err := post(tt.after, tt.facts)
		test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(name))
	}
}

func TestOf_GivesBackWhatCameAfterTheEnd(t *testing.T) {
	t.Parallel()
	captured, refund := facts(payment.Capture, 50, ""), func(units int64) payment.Facts {
		return facts(payment.Refund, units, "")
	}
	for name, tt := range map[string]struct {
		facts []payment.Facts
		ended int // minutes after the first line
		want  int64
	}{
		"it came before":          {[]payment.Facts{captured}, 1, 0},
		"it came at the end":      {[]payment.Facts{captured}, 0, 50},
		"a part came before":      {[]payment.Facts{captured, facts(payment.Capture, 20, "")}, 1, 20},
		"a part is refunded":      {[]payment.Facts{captured, refund(20)}, 0, 30},
		"all of it is refunded":   {[]payment.Facts{captured, refund(50)}, 0, 0},
		"only what came before":   {[]payment.Facts{captured, refund(50)}, 1, 0},
		"a refund is of the late": {[]payment.Facts{captured, facts(payment.Capture, 20, ""), refund(20)}, 1, 0},
		"a refund is not of what comes later": {
			[]payment.Facts{captured, refund(50), facts(payment.Capture, 20, "")}, 1, 20,
		},
		"an authorization is no money": {[]payment.Facts{facts(payment.Authorize, 50, "")}, 0, 0},
	} {
		var lines []payment.Line
		for _, f := range tt.facts {
			var err error
			lines, err = post(lines, f)
			must.NoError(t, err, must.Sprint(name))
		}
		got := payment.Of(lines, new(now.Add(time.Duration(tt.ended)*time.Minute))).ToRefund
		test.EqOp(t, tt.want, got.Units, test.Sprint(name))
		test.True(t, payment.Of(lines, nil).ToRefund == credit.Money{}, test.Sprint(name))
	}
}

func TestRecord_RefusesMoneyWhereNothingIsDue(t *testing.T) {
	t.Parallel()
	for _, never := range []payment.Due{payment.PaidByPlan, payment.Waived} {
		expect.Fault(t, "NOTHING_DUE paid_by="+string(never))(
			payment.Record(nil, facts(payment.Capture, 20, "r"), never, tenant.BookingID{}, "ana", now))
		known := expect.Value(post(nil, facts(payment.Capture, 20, "r")))(t)
		again, err := payment.Record(known, facts(payment.Capture, 20, "r"), never, tenant.BookingID{}, "ana", now)
		must.NoError(t, err, must.Sprint("a reference that is known"))
		test.Nil(t, again)
	}
}

// Rows have these values.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []payment.Status{"UNPAID", "AUTHORIZED", "CAPTURED", "REFUNDED", "WRITTEN_OFF"}, []payment.Status{
		payment.Unpaid, payment.Authorized, payment.Captured, payment.Refunded, payment.WrittenOff,
	})
	test.Eq(t, []payment.Kind{"AUTHORIZATION", "CAPTURE", "REFUND", "WRITE_OFF"},
		[]payment.Kind{payment.Authorize, payment.Capture, payment.Refund, payment.WriteOff})
}
