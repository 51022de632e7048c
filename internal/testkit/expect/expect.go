// Package expect checks the error of a call where the call is made.
package expect

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// Value returns the value of a call, and fails the test if the call failed:
//
//	place := expect.Value(studio.Book(mia, class))(t)
func Value[V any](value V, err error) func(must.T) V {
	return func(t must.T) V {
		t.Helper()
		must.NoError(t, err)
		return value
	}
}

// OK fails the test if a call failed, whose values do not matter:
//
//	expect.OK(t)(studio.Cancel(mia, id))
func OK(t must.T) func(results ...any) {
	return func(results ...any) {
		t.Helper()
		must.NoError(t, Error(results...))
	}
}

// OKOr fails the test if a call failed for another reason than those that a race may lead to.
func OKOr(t must.T, reasons ...fault.Reason) func(results ...any) {
	return func(results ...any) {
		t.Helper()
		err := Error(results...)
		must.True(t, err == nil || slices.Contains(reasons, fault.ReasonOf(err)), must.Sprint(err))
	}
}

// Reason fails the test unless a call failed for a reason, and gives what its error says besides. An invalid field has
// to be named, and so has each fact of the error. About says which case of a table it is:
//
//	expect.Reason(t, fault.SessionFull)(studio.Book(mia, class))
//	test.EqOp(t, "2", expect.Reason(t, fault.DailyLimit)(studio.Book(mia, third)).Metadata["limit"])
func Reason(t must.T, want fault.Reason, about ...any) func(results ...any) fault.Error {
	return func(results ...any) fault.Error {
		t.Helper()
		err := Error(results...)
		must.EqOp(t, want, fault.ReasonOf(err), must.Sprintf("%s: %v", fmt.Sprint(about...), err))
		if f, ok := errors.AsType[*fault.Error](err); ok {
			_, unnamed := f.Metadata[""]
			must.False(t, unnamed, must.Sprintf("%#v", f))
			must.NotEqOp(t, "", f.Message)
			must.False(t, f.Reason == fault.InvalidField && f.Field == "", must.Sprintf("%#v", f))
			return *f
		}
		return fault.Error{}
	}
}

// Fault checks what programs read of the error of a call, as faulttest.Text writes it; "" is no error. About says which
// case of a table it is:
//
//	expect.Fault(t, tt.want, name)(booking.Decide(facts, request, now))
func Fault(t T, want string, about ...any) func(results ...any) {
	return func(results ...any) {
		t.Helper()
		err := Error(results...)
		test.EqOp(t, want, faulttest.Text(err), test.Sprintf("%s: %v", fmt.Sprint(about...), err))
	}
}

// InvalidField checks that a value is refused for a field if it differs from a good one like this. "" has the
// differences with which it is still accepted.
func InvalidField[V interface{ Validate() error }](t T, good V, differ map[string][]vary.Fields) {
	t.Helper()
	for field, all := range differ {
		want := ""
		if field != "" {
			want = string(fault.InvalidField) + " @" + field
		}
		for _, fields := range all {
			Fault(t, want, fields)(vary.From(good, fields).Validate())
		}
	}
}

// T is a test, or one run of a property.
type T interface {
	test.T
	must.T
}

// Error returns the error of a call, which is its last result:
//
//	err := expect.Error(studio.Book(mia, class))
func Error(results ...any) error {
	last := results[len(results)-1]
	if last == nil {
		return nil
	}
	return last.(error)
}

// Metrics returns what was measured by metrics whose name begins with a prefix: the values of counters and gauges, and
// how often histograms observed one, by their name and labels, as in `requests_total method=GET`. The buckets of
// histograms must be those that docs/operations.md lists.
func Metrics(t must.T, from prometheus.Gatherer, prefix string) map[string]float64 {
	t.Helper()
	all := make(map[string]float64)
	for _, family := range Value(from.Gather())(t) {
		for _, m := range family.GetMetric() {
			words := []string{family.GetName()}
			for _, label := range m.GetLabel() {
				words = append(words, label.GetName()+"="+label.GetValue())
			}
			if name := strings.Join(words, " "); strings.HasPrefix(name, prefix) {
				row := []string{"| `" + family.GetName() + "` |"}
				for _, bucket := range m.GetHistogram().GetBucket() {
					row = append(row, strconv.FormatFloat(bucket.GetUpperBound(), 'f', -1, 64))
				}
				if m.GetHistogram() != nil {
					must.StrContains(t, Value(operations())(t), strings.Join(append(row, "|"), " "))
				}
				all[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return all
}

// operations is the text of docs/operations.md, for a test in any folder.
var operations = sync.OnceValues(func() (string, error) {
	path := "docs/operations.md"
	for range 5 {
		path = "../" + path
		if text, err := os.ReadFile(path); err == nil {
			return string(text), nil
		}
	}
	return "", os.ErrNotExist
})
