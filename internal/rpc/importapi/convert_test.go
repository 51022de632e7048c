package importapi

import (
	"testing"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert/converttest"
	"github.com/berthhq/berth/internal/rules/fileimport"
)

// Every field is converted to the field of the same meaning, in both directions.
func TestConversions_CarryEveryField(t *testing.T) {
	t.Parallel()
	var l converttest.Lines
	converttest.Add(&l, importMessage, func(i *fileimport.Import) {
		i.Kind, i.Status = fileimport.Sessions, fileimport.Failed
		for n := range i.Problems {
			i.Problems[n].Reason = fault.AlreadyExistsReason
		}
		if i.Undo.Problem != nil {
			i.Undo.Problem.Reason = fault.ImportInUse
		}
	})
	converttest.AddBack(&l, filterValue)
	l.Check(t, "testdata/fields.txt")
}
