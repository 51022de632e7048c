package signin

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

func TestGuess_IsRightOnceAndInTime(t *testing.T) {
	t.Parallel()
	fresh := NewCode(tenant.CodeID{}, tenant.MemberID{}, nil, nil, nil, 6, noon)
	for name, tt := range map[string]struct {
		change        func(c *Code)
		right         bool
		digits        int
		at            time.Time
		guesses       int
		used, refused bool
	}{
		"right":         {right: true, digits: 6, at: noon.Add(CodeLife - 1), used: true},
		"wrong":         {digits: 6, at: noon, guesses: 1, refused: true},
		"too old":       {right: true, digits: 6, at: noon.Add(CodeLife), refused: true},
		"used":          {func(c *Code) { c.Used = true }, true, 6, noon, 0, true, true},
		"the fifth":     {func(c *Code) { c.Guesses = 4 }, false, 6, noon, 5, false, true},
		"after five":    {func(c *Code) { c.Guesses = 5 }, true, 6, noon, 5, false, true},
		"too short now": {right: true, digits: 8, at: noon, refused: true},
		"longer":        {func(c *Code) { c.Digits = 8 }, true, 6, noon, 0, true, false},
	} {
		c := fresh
		if tt.change != nil {
			tt.change(&c)
		}
		after, err := c.Guess(tt.right, tt.digits, tt.at)
		test.EqOp(t, tt.refused, fault.ReasonOf(err) == fault.SignInCodeInvalid, test.Sprint(name))
		test.EqOp(t, tt.guesses, after.Guesses, test.Sprint(name))
		test.EqOp(t, tt.used, after.Used, test.Sprint(name))
	}
}

// However many guess, they hit a code with a probability of three thousandths until ten million guesses.
func TestDigits_KeepGuessesFromHitting(t *testing.T) {
	t.Parallel()
	for guesses, want := range map[int]int{0: 6, 999: 6, 1_000: 8, 99_999: 8, 100_000: 10, 1 << 40: 10} {
		test.EqOp(t, want, Digits(guesses), test.Sprint(guesses))
	}
	hits := 0.0
	for guesses := range 10_000_000 {
		p := 1.0
		for range Digits(guesses) {
			p /= 10
		}
		hits += p
	}
	test.Less(t, 0.003, hits)
}
