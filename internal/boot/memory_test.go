package boot

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryLimit_IsNineTenthsOfTheContainer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"max\n": defaultMemoryLimit, "": defaultMemoryLimit, "1000000000\n": 900000000, "-1": defaultMemoryLimit,
	} {
		file := filepath.Join(t.TempDir(), "memory.max")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := memoryLimit(file); got != want {
			t.Errorf("%q gives %d, want %d", text, got, want)
		}
	}
	if got := memoryLimit(filepath.Join(t.TempDir(), "none")); got != defaultMemoryLimit {
		t.Errorf("without a container: %d", got)
	}
}
