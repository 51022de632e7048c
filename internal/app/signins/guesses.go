package signins

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

// guessPlaces is in how many places nodes count wrong guesses. Each node has one, so that it rarely waits for others.
const guessPlaces = 16

// guesses counts the wrong guesses at the codes of all addresses, on all nodes. The database has at most a row for each
// hour and place.
type guesses struct {
	place int

	mu    sync.Mutex
	swept time.Time // the hour in which this node last deleted what is old
}

func newGuesses() *guesses { return &guesses{place: rand.IntN(guessPlaces)} } //nolint:gosec // no secret

// countGuesses returns how many wrong guesses there were in the last 24 to 25 hours.
func (s *Service) countGuesses(ctx context.Context) (n int, err error) {
	var batch pg.Batch
	accountdb.CountSignInGuesses(&batch, tenant.Platform, guessesSince(s.engine.Now()), &n)
	return n, s.engine.Read(ctx, tenant.System(tenant.Platform), &batch)
}

func guessesSince(now time.Time) time.Time { return now.UTC().Truncate(time.Hour).Add(-signin.CodeDay) }

// addGuess counts a wrong guess. What is old is deleted once an hour.
func (s *Service) addGuess(ctx context.Context) error {
	sweep := s.guesses.sweeps(s.engine.Now())
	t := engine.Transaction{Name: "sign_in.count_guess", Quiet: true}
	return engine.Exec(ctx, s.engine, tenant.System(tenant.Platform), t, func(_ context.Context, tx *engine.Tx) error {
		accountdb.AddSignInGuess(tx.Tx, tx.Tenant, tx.Now.UTC().Truncate(time.Hour), s.guesses.place)
		if sweep {
			accountdb.DeleteOldSignInGuesses(tx.Tx, tx.Tenant, guessesSince(tx.Now))
		}
		return nil
	})
}

// sweeps reports whether an hour has begun in which this node has not deleted what is old.
func (g *guesses) sweeps(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	hour := now.UTC().Truncate(time.Hour)
	if hour.Equal(g.swept) {
		return false
	}
	g.swept = hour
	return true
}
