package fileimport

import (
	"strconv"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// UndoTime is for how long an import can be undone after its end.
const UndoTime = 24 * time.Hour

// UndoReason is the reason of what an undone import leaves: cancelled bookings, and lines that reverse others.
const UndoReason = "Import undone"

// Undo is how far an import is undone.
type Undo struct {
	Actor, Subject string // who undoes it; empty: nobody
	At             time.Time
	// Problem is why it was not undone, if that came up after it was asked for.
	Problem *Problem
}

// By returns who undoes an import, in whose name that is recorded.
func (u Undo) By(in tenant.TenantID) tenant.Caller { return callerOf(in, u.Actor, u.Subject) }

// UndoDeadline returns until when the import can be undone; zero if it created nothing, or is being undone.
func (i Import) UndoDeadline() time.Time {
	if i.Status != Succeeded || i.Created == 0 {
		return time.Time{}
	}
	return i.EndedAt.Add(UndoTime)
}

// StartUndo asks for the undoing of an import, and reports whether that is new. The errors are IMPORT_STATE and
// IMPORT_UNDO_EXPIRED.
func (i Import) StartUndo(by tenant.Caller, now time.Time) (Import, bool, error) {
	deadline := i.UndoDeadline()
	switch {
	case i.Status == Undoing || i.Status == Undone:
		return i, false, nil
	case deadline.IsZero():
		return i, false, fault.New(fault.FailedPrecondition, fault.ImportState,
			"The import created nothing that could be undone.").WithMetadata("status", string(i.Status))
	case !now.Before(deadline):
		return i, false, fault.New(fault.FailedPrecondition, fault.ImportUndoExpired,
			"An import can be undone for 24 hours after its end.").
			WithMetadata("deadline", deadline.UTC().Format(time.RFC3339))
	}
	i.Status, i.Attempts, i.DueAt = Undoing, 0, now
	i.Undo = Undo{Actor: by.Actor(), Subject: by.Subject}
	return i, true, nil
}

// EndUndo says that all that the import created is undone.
func (i Import) EndUndo(now time.Time) Import {
	i.Status, i.DueAt, i.Undo.At = Undone, time.Time{}, now
	return i
}

// RefuseUndo says that what the import created stays.
func (i Import) RefuseUndo(reason fault.Reason, why string) Import {
	i.Status, i.DueAt = Succeeded, time.Time{}
	i.Undo = Undo{Problem: &Problem{Problem: csvfile.Problem{Reason: reason, Message: why}}}
	return i
}

// Use is what is in use of what an import created.
type Use struct {
	Count int
	First []string // the names of the first ones
}

// CheckUnused rejects the undoing of an import of which something is in use: IMPORT_IN_USE.
func (u Use) CheckUnused() error {
	if u.Count == 0 {
		return nil
	}
	first := strings.Join(u.First, ", ")
	return fault.New(fault.FailedPrecondition, fault.ImportInUse,
		"%d of what the import created is in use or was changed, such as %s. Nothing was undone.", u.Count, first).
		WithMetadata("count", strconv.Itoa(u.Count)).WithMetadata("first", first)
}
