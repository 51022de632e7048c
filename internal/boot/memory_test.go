package boot

import (
	"errors"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/shoenig/test"
)

func TestTuneForLoad_RefusesALimitThatItDoesNotUnderstand(t *testing.T) {
	t.Setenv("GOGC", "400") // leave the test's own as it is
	t.Setenv("AUTOMEMLIMIT", "lots")
	test.ErrorContains(t, TuneForLoad(), "AUTOMEMLIMIT")
	t.Setenv("AUTOMEMLIMIT", "off")
	test.NoError(t, TuneForLoad())
}

func TestMemoryLimit_IsNineTenthsOfTheContainer(t *testing.T) {
	t.Parallel()
	failing := func(err error) memlimit.Provider { return func() (uint64, error) { return 0, err } }
	for name, tt := range map[string]struct {
		container memlimit.Provider
		want      uint64
	}{
		"limited":           {memlimit.Limit(1_000_000_000), 900_000_000},
		"without a limit":   {failing(memlimit.ErrNoLimit), defaultMemoryLimit},
		"without a cgroup":  {failing(memlimit.ErrNoCgroup), defaultMemoryLimit},
		"with a broken one": {failing(errors.New("unreadable")), defaultMemoryLimit},
	} {
		got, err := memoryLimit(tt.container)()
		test.EqOp(t, tt.want, got, test.Sprintf("%s: %d (%v), want %d", name, got, err, tt.want))
		test.NoError(t, err, test.Sprintf("%s: %d (%v), want %d", name, got, err, tt.want))
	}
}
