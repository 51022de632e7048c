package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/migrations"
)

func TestTmpContention(t *testing.T) {
	if os.Getenv("TMPC") == "" {
		return
	}
	folder := pgtest.Folder(t)
	postgres := startDurable(t, folder, 0)
	if err := pg.Migrate(t.Context(), postgres.URL, migrations.FS, nil); err != nil {
		t.Fatal(err)
	}
	l := newLoad(t, "/tmp/e2e/berth", postgres.URL, folder)
	l.serve()
	for range 3 {
		l.run(nil)
		l.check("run")
		_, body := get(t, "http://"+l.address+"/metrics")
		for line := range strings.Lines(body) {
			if strings.HasPrefix(line, "berth_transaction") && !strings.Contains(line, "bucket") {
				t.Log(strings.TrimSpace(line))
			}
		}
	}
	_ = filepath.Join
}
