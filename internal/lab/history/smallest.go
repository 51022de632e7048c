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

// Smallest leaves out of a history that no order explains what is not needed to see that. Nothing is left out without which a
// sound history might look wrong: what comes after the moment at which none explains it, what was refused or only
// read, and answers that do not matter, whose operations are then taken as never answered. Each of the many looks for an order
// may last as long as patience.
func (v Verdict) Smallest(patience time.Duration) Verdict {
	if v.Result != porcupine.Illegal {
		return v
	}
	wrong := func(all []Operation) bool { return check(v.Name, v.model, all, patience).Result == porcupine.Illegal }
	all := slices.SortedStableFunc(slices.Values(v.operations), func(a, b Operation) int { return cmp.Compare(a.Called, b.Called) })
	var ends []time.Duration
	for _, op := range all {
		ends = append(ends, op.Returned)
	}
	slices.Sort(ends)
	at, _ := slices.BinarySearchFunc(ends, true, func(end time.Duration, _ bool) int {
		if wrong(until(all, end)) {
			return 0
		}
		return -1
	})
	if at < len(ends) {
		all = until(all, ends[at])
	}
	for i, op := range slices.Backward(all) {
		if less := slices.Delete(slices.Clone(all), i, i+1); op.idle() && wrong(less) {
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
	return check(v.Name, v.model, all, patience)
}

// until is a history as somebody knows it at a moment.
func until(all []Operation, end time.Duration) []Operation {
	var some []Operation
	for _, op := range all {
		switch {
		case op.Called > end:
			continue
		case op.Returned <= end || op.Kind == Expire:
		case op.idle():
			continue
		default:
			op.Outcome, op.Reason = Unknown, ""
		}
		some = append(some, op)
	}
	return some
}

// idle reports whether an operation is known to have done nothing.
func (op Operation) idle() bool {
	switch op.Outcome {
	case Gone, Full, Already, Broke, Refused:
		return true
	default:
		return op.Kind == Look || op.Kind == Balance
	}
}

// String tells the history a line for each operation, with the milliseconds between which it was.
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

// forever is for what may happen at any time from its call on.
const forever = math.MaxInt64
