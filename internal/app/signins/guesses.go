package signins

import (
	"sync"
	"time"

	"github.com/berthhq/berth/internal/rules/signin"
)

// guessHours is in how many parts the wrong guesses of the last signin.CodeDay are counted.
const guessHours = int64(signin.CodeDay / time.Hour)

// guessCount counts the wrong guesses of this node at the codes of all addresses, in the last 24 to 25 hours.
type guessCount struct {
	mu    sync.Mutex
	hours [guessHours + 1]struct {
		hour int64 // since 1970
		n    int
	}
}

func (g *guessCount) add(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	hour := now.Unix() / 3600
	h := &g.hours[hour%int64(len(g.hours))]
	if h.hour != hour {
		h.hour, h.n = hour, 0
	}
	h.n++
}

func (g *guessCount) count(now time.Time) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.hours {
		if h.hour >= now.Unix()/3600-guessHours {
			n += h.n
		}
	}
	return n
}
