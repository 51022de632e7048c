package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"
)

func TestReview_DoublesAfterAGoodWeekAndFallsAtOnce(t *testing.T) {
	t.Parallel()
	week := monday.Add(-7 * 24 * time.Hour)
	for name, c := range map[string]struct {
		level int
		since time.Time
		sent  Conduct
		want  int
	}{
		"a good week":                       {0, week, Conduct{100, 2}, 1},
		"the next":                          {1, week, Conduct{200, 0}, 2},
		"the highest":                       {6, week, Conduct{6400, 0}, 6},
		"not a week yet":                    {0, week.Add(1), Conduct{100, 0}, 0},
		"fewer than the limit of a day":     {1, week, Conduct{199, 0}, 1},
		"neither good nor bad":              {1, week, Conduct{200, 5}, 1},
		"bad":                               {3, monday.Add(-time.Hour), Conduct{199, 10}, 2},
		"bad, and nothing to lose":          {0, week, Conduct{100, 50}, 0},
		"a few, which say nothing":          {3, week, Conduct{9, 9}, 3},
		"much, of which only a part is bad": {3, week, Conduct{1000, 50}, 3},
	} {
		after := Standing{Channel: sms, Level: c.level, Since: c.since}.Review(c.sent, 100, monday)
		test.EqOp(t, c.want, after.Level, test.Sprint(name))
		test.EqOp(t, monday, after.ReviewedAt, test.Sprint(name))
		if changed := after.Level != c.level; changed {
			test.EqOp(t, monday, after.Since, test.Sprint(name))
		}
	}
	test.EqOp(t, 0, Standing{Since: week}.Review(Conduct{Sent: 1}, 0, monday).Level, test.Sprint("there is no limit"))
}
