package catalog

import (
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
)

// nameTaken says so where a unique name was refused by its index. Looking first would not help: the
// other may be made at the same moment.
func nameTaken(err error, index, field, kind string) error {
	if pg.IsUnique(err, index) {
		return fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "There is a %s of that name.", kind).WithField(field).WithCause(err)
	}
	return err
}
