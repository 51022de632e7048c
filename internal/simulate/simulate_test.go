package simulate

import (
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine
)

func TestSeeds(t *testing.T) {
	t.Parallel()
	var sum Report
	for seed := range uint64(300) {
		r, err := Run(t.Context(), Options{Seed: seed, Length: 12 * day, Size: Small})
		if err != nil {
			t.Fatal(err)
		}
		sum.Steps += r.Steps
	}
	t.Log(sum)
	_ = time.Now
}
