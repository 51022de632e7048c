package fileimport_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestStartUndo_IsPossibleForADay(t *testing.T) {
	t.Parallel()
	ended := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	made := fileimport.Import{Status: fileimport.Succeeded, Created: 3, EndedAt: ended}
	in := func(status fileimport.Status, created int) fileimport.Import {
		i := made
		i.Status, i.Created = status, created
		return i
	}
	for name, tt := range map[string]struct {
		of     fileimport.Import
		after  time.Duration
		reason fault.Reason
		asks   bool
	}{
		"at once":            {made, 0, "", true},
		"in the last second": {made, 24*time.Hour - time.Second, "", true},
		"after a day":        {made, 24 * time.Hour, fault.ImportUndoExpired, false},
		"created nothing":    {in(fileimport.Succeeded, 0), 0, fault.ImportState, false},
		"failed":             {in(fileimport.Failed, 0), 0, fault.ImportState, false},
		"running":            {in(fileimport.Running, 3), 0, fault.ImportState, false},
		"being undone":       {in(fileimport.Undoing, 3), 48 * time.Hour, "", false},
		"undone":             {in(fileimport.Undone, 3), 48 * time.Hour, "", false},
	} {
		by := tenant.Caller{Subject: "olga"}
		got, asks, err := tt.of.StartUndo(by, ended.Add(tt.after))
		test.EqOp(t, tt.asks, asks, test.Sprint(name))
		if tt.reason != "" {
			test.EqOp(t, tt.reason, fault.ReasonOf(err), test.Sprint(name))
			continue
		}
		must.NoError(t, err, must.Sprint(name))
		if asks {
			test.EqOp(t, fileimport.Undoing, got.Status, test.Sprint(name))
			test.EqOp(t, "olga", got.Undo.Subject, test.Sprint(name))
		}
	}
}

func TestCheckUnused_NamesTheFirst(t *testing.T) {
	t.Parallel()
	test.NoError(t, fileimport.Use{}.CheckUnused())
	f := expect.Reason(t, fault.ImportInUse)(0, fileimport.Use{Count: 7, First: []string{"Ana", "Bo"}}.CheckUnused())
	test.Eq(t, map[string]string{"count": "7", "first": "Ana, Bo"}, f.Metadata)
}
