package notify_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/notify"
)

var statuses = []notify.DeliveryStatus{
	"", notify.PossiblySent, notify.Queued, notify.Sent, notify.Failed, notify.Undelivered, notify.Bounced,
	notify.Delivered, notify.Read,
}

// Reports in any order and any number lead to the same status, and the status only advances.
func TestAdvance_IsIndependentOfOrderAndRepetition(t *testing.T) {
	t.Parallel()
	final := []notify.DeliveryStatus{
		notify.Failed, notify.Undelivered, notify.Bounced, notify.Delivered, notify.Read,
	}
	rapid.Check(t, func(t *rapid.T) {
		reports := rapid.SliceOfN(rapid.SampledFrom(append(statuses, "NEWS")), 1, 12).Draw(t, "reports")
		again := append(rapid.Permutation(reports).Draw(t, "order"), rapid.SampledFrom(reports).Draw(t, "twice"))
		run := func(reports []notify.DeliveryStatus) (status notify.DeliveryStatus) {
			for _, to := range reports {
				next := notify.Advance(status, to)
				must.False(
					t, next != status && notify.Advance(next, status) != next,
					must.Sprintf("%s and %s follow each other", status, next),
				)
				must.False(
					t, slices.Contains(final, status) && !slices.Contains(final, next),
					must.Sprintf("%s was final, and became %s", status, next),
				)
				status = next
			}
			return status
		}
		must.EqOp(t, run(reports), run(again), must.Sprintf("%v and %v", reports, again))
	})
	for from, to := range map[notify.DeliveryStatus]notify.DeliveryStatus{
		notify.PossiblySent: notify.Queued, notify.Queued: notify.Sent, notify.Sent: notify.Delivered,
		notify.Undelivered: notify.Delivered, notify.Delivered: notify.Read,
	} {
		test.EqOp(t, to, notify.Advance(from, to), test.Sprintf("%s does not lead to %s", from, to))
		test.EqOp(t, to, notify.Advance(to, from), test.Sprintf("%s does not lead to %s", from, to))
	}
}

func TestBackoff_WaitsWithFullJitterUntilExpiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	b := notify.Backoff{Base: time.Second, Max: time.Minute}
	never := time.Time{}
	for name, tc := range map[string]struct {
		attempt    int
		random     float64
		retryAfter time.Duration
		expiresAt  time.Time
		want       time.Duration // negative: no retry
	}{
		"no wait":                  {1, 0, 0, never, 0},
		"half of the first":        {1, 0.5, 0, never, 500 * time.Millisecond},
		"half of the fourth":       {4, 0.5, 0, never, 4 * time.Second},
		"half of the highest":      {40, 0.5, 0, never, 30 * time.Second},
		"no overflow":              {100_000, 0.5, 0, never, 30 * time.Second},
		"retry after":              {1, 0.5, time.Minute, never, time.Minute + 500*time.Millisecond},
		"negative retry after":     {1, 0.5, -time.Minute, never, 500 * time.Millisecond},
		"before expiry":            {1, 0.5, 0, now.Add(501 * time.Millisecond), 500 * time.Millisecond},
		"at expiry":                {1, 0.5, 0, now.Add(500 * time.Millisecond), -1},
		"retry after until expiry": {1, 0, time.Minute, now.Add(time.Minute), -1},
	} {
		at, ok := b.Next(now, tc.attempt, tc.random, tc.retryAfter, tc.expiresAt)
		test.EqOp(t, (tc.want >= 0), ok, test.Sprintf("%s: %s, %t", name, at.Sub(now), ok))
		test.True(t, !ok || at.Sub(now) == tc.want, test.Sprintf("%s: %s, %t", name, at.Sub(now), ok))
	}
	rapid.Check(t, func(t *rapid.T) {
		attempt := rapid.IntRange(0, 1000).Draw(t, "attempt")
		random := rapid.Float64Range(0, 0.999999).Draw(t, "random")
		expires := now.Add(time.Duration(rapid.Int64Range(-1e9, 1e11).Draw(t, "left")))
		at, ok := b.Next(now, attempt, random, 0, expires)
		must.False(
			t, ok && (at.Before(now) || !at.Before(expires) || at.Sub(now) > b.Max),
			must.Sprintf("%s, expires %s", at, expires),
		)
	})
}

func TestGSM7_CountsSegmentsAndChoosesEncoding(t *testing.T) {
	t.Parallel()
	const gsm, ucs = notify.GSM7Bit, notify.UCS2
	for name, tc := range map[string]struct {
		text     string
		segments int
		encoding notify.Encoding
		per      int
	}{
		"empty":                   {"", 0, gsm, 160},
		"short":                   {"A place is free", 1, gsm, 160},
		"full":                    {strings.Repeat("a", 160), 1, gsm, 160},
		"one more":                {strings.Repeat("a", 161), 2, gsm, 153},
		"two full":                {strings.Repeat("a", 306), 2, gsm, 153},
		"three":                   {strings.Repeat("a", 307), 3, gsm, 153},
		"accents in the alphabet": {strings.Repeat("é", 160), 1, gsm, 160},
		"Greek in the alphabet":   {strings.Repeat("Ω", 160), 1, gsm, 160},
		"lines":                   {"a\nb\rc", 1, gsm, 160},
		"extended":                {strings.Repeat("€", 80), 1, gsm, 160},
		"one extended more":       {strings.Repeat("€", 80) + "a", 2, gsm, 153},
		"braces":                  {strings.Repeat("{", 81), 2, gsm, 153},
		// 152 plus an escaped character does not fit into 153, so the whole character goes to the next segment.
		"escape not split":     {strings.Repeat("a", 152) + "€" + strings.Repeat("a", 152), 3, gsm, 153},
		"escape at the end":    {strings.Repeat("a", 151) + "€" + strings.Repeat("a", 153), 2, gsm, 153},
		"not in the alphabet":  {"ê", 1, ucs, 70},
		"typographic quote":    {strings.Repeat("a", 70) + "’", 2, ucs, 67},
		"Cyrillic":             {strings.Repeat("ы", 70), 1, ucs, 70},
		"Cyrillic, two":        {strings.Repeat("ы", 134), 2, ucs, 67},
		"Cyrillic, three":      {strings.Repeat("ы", 135), 3, ucs, 67},
		"outside the BMP":      {strings.Repeat("🎾", 35), 1, ucs, 70},
		"surrogates not split": {strings.Repeat("🎾", 67), 3, ucs, 67}, // 33 of two units to a segment
		"tab":                  {"a\tb", 1, ucs, 70},
		"backtick":             {"`", 1, ucs, 70},
		"not UTF-8":            {"\xff", 1, ucs, 70},
	} {
		segments, encoding, per := notify.CountSegments(tc.text)
		test.EqOp(t, tc.segments, segments,
			test.Sprintf(
				"%s: %d of %d in %s, want %d of %d in %s",
				name, segments, per, encoding, tc.segments, tc.per, tc.encoding,
			))
		test.EqOp(t, tc.encoding, encoding,
			test.Sprintf(
				"%s: %d of %d in %s, want %d of %d in %s",
				name, segments, per, encoding, tc.segments, tc.per, tc.encoding,
			))
		test.EqOp(t, tc.per, per,
			test.Sprintf(
				"%s: %d of %d in %s, want %d of %d in %s",
				name, segments, per, encoding, tc.segments, tc.per, tc.encoding,
			))
	}
}

func TestGSM7_SegmentsAreEnoughAndNotTooMany(t *testing.T) {
	t.Parallel()
	alphabet := []rune("aZ9 é\n€[~ы’🎾")
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, 500).Draw(t, "text"))
		segments, encoding, per := notify.CountSegments(text)
		units := 0
		for _, r := range text {
			switch {
			case encoding == notify.UCS2 && r > 0xFFFF, encoding == notify.GSM7Bit && strings.ContainsRune("€[~", r):
				units += 2
			default:
				units++
			}
		}
		must.True(t, segments*per >= units, must.Sprintf("%d units in %d of %d", units, segments, per))
		if segments > 1 && (segments-1)*(per-1) >= units { // at most one unit of each segment is unused
			t.Fatalf("%d segments of %d for %d units", segments, per, units)
		}
		more, _, _ := notify.CountSegments(text + "a")
		must.True(t, more >= segments, must.Sprintf("a longer text needs %d instead of %d", more, segments))
	})
}

func TestSendError_NamesKindCodeAndReason(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]*notify.SendError{
		"transient": {Kind: notify.Transient},
		"opted_out (21610): the recipient replied STOP": {
			Kind: notify.OptedOut, Code: "21610", Reason: "the recipient replied STOP",
		},
		"unknown: no answer: unexpected EOF": {
			Kind: notify.Unknown, Reason: "no answer", Err: io.ErrUnexpectedEOF,
		},
	} {
		test.EqOp(t, want, err.Error())
		test.False(t, err.Err != nil && !errors.Is(err, err.Err), test.Sprintf("%v hides its cause", err))
	}
}
