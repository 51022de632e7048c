package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Minimize removes from a history that no order explains everything that is not needed to show this. It removes only
// what cannot make a linearizable history look wrong: operations after the time from which no order explains it,
// operations that failed or only read, and responses that do not matter, whose operations then count as not answered.
// The timeout applies to each of the many searches for an order.
func (v Verdict) Minimize(timeout time.Duration) Verdict {
	if v.Result != porcupine.Illegal {
		return v
	}
	wrong := func(all []Operation) bool { return check(v.Name, v.model, all, timeout).Result == porcupine.Illegal }
	byCall := func(a, b Operation) int { return cmp.Compare(a.Called, b.Called) }
	all := slices.SortedStableFunc(slices.Values(v.operations), byCall)
	var ends []time.Duration
	for _, op := range all {
		ends = append(ends, op.Returned)
	}
	slices.Sort(ends)
	at, _ := slices.BinarySearchFunc(ends, true, func(end time.Duration, _ bool) int {
		if wrong(truncate(all, end)) {
			return 0
		}
		return -1
	})
	if at < len(ends) {
		all = truncate(all, ends[at])
	}
	for i, op := range slices.Backward(all) {
		if less := slices.Delete(slices.Clone(all), i, i+1); op.hasNoEffect() && wrong(less) {
			all = less
		}
	}
	for i, op := range slices.Backward(all) {
		if op.Outcome == Unknown || op.Kind == Expire {
			continue
		}
		less := slices.Clone(all)
		less[i].Outcome, less[i].Reason = Unknown, ""
		if wrong(less) {
			all = less
		}
	}
	return check(v.Name, v.model, all, timeout)
}

// truncate returns a history as it is known at a time.
func truncate(all []Operation, end time.Duration) []Operation {
	var some []Operation
	for _, op := range all {
		switch {
		case op.Called > end:
			continue
		case op.Returned <= end || op.Kind == Expire:
		case op.hasNoEffect():
			continue
		default:
			op.Outcome, op.Reason = Unknown, ""
		}
		some = append(some, op)
	}
	return some
}

// hasNoEffect reports whether an operation is known to have changed nothing.
func (op Operation) hasNoEffect() bool {
	switch op.Outcome {
	case Gone, Full, Already, NoCredits, Refused:
		return true
	default:
		return op.Kind == Look || op.Kind == Balance
	}
}

// String returns a line for each operation, with the times of call and return in milliseconds.
func (v Verdict) String() string {
	var text strings.Builder
	for _, op := range v.operations {
		ended := fmt.Sprintf("%.1f", op.Returned.Seconds()*1000)
		if op.Outcome == Unknown || op.Kind == Expire {
			ended = "…"
		}
		fmt.Fprintf(&text, "%10.1f %10s  %s\n", op.Called.Seconds()*1000, ended, op.describe())
	}
	return text.String()
}

// forever is the return time of operations that can happen at any time after their call.
const forever = math.MaxInt64
