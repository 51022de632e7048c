// Package fileimport says how far an import of a file is. Nodes work on it in the background: a node takes an import
// that is due, and another takes it again later if the first does not end it.
package fileimport

import (
	"time"

	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Kind is what the rows of a file become.
type Kind string

// The kinds.
const (
	Sessions Kind = "SESSIONS"
	Members  Kind = "MEMBERS"

	Subscriptions Kind = "SUBSCRIPTIONS"
	Bookings      Kind = "BOOKINGS"
)

// Status is how far an import is.
type Status string

// The statuses.
const (
	Pending   Status = "PENDING"
	Running   Status = "RUNNING"
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	Undoing   Status = "UNDOING"
	Undone    Status = "UNDONE"
)

const (
	// MaxUnended is how many imports of a tenant may not have ended.
	MaxUnended = 10
	// MaxProblems is how many problems of an import are kept, and how many notes.
	MaxProblems = 1000
	// Lease is after how long without progress another node takes an import.
	Lease = 2 * time.Minute
	// Life is for how long an import can be read after its end.
	Life = 30 * 24 * time.Hour
	// LeftOutLife is for how long the rows that were left out can be read after the end. They have contacts of people who
	// may never become members.
	LeftOutLife = 24 * time.Hour
	// maxAttempts is how often nodes take an import before it fails: one that always stops its node must end.
	maxAttempts = 10
)

// Problem is a problem in a row. The row 0 is the import as a whole.
type Problem = csvfile.RowProblem

// Note says what became of a row otherwise than its cells say.
type Note = csvfile.RowNote

// Match says what becomes of a column of the file.
type Match = csvfile.Match

// Import is an import of a file.
type Import struct {
	ID         tenant.ImportID
	Kind       Kind
	Status     Status
	DryRun     bool
	LeaveOut   bool   // rows with problems are left out, and the others created
	MayPublish bool   // its caller may publish what it creates
	Actor      string // who started it, as tenant.Caller.Actor has it
	Subject    string // likewise
	// Columns says what becomes of the columns of the file.
	Columns []Match

	Rows    int // of the file, without the header
	Done    int // rows that have been checked
	Invalid int // rows with problems, including the header
	Created int
	// CreatedIDs are the ids of what it created. They are written at its end, and read where it is undone.
	CreatedIDs []tenant.UUID

	Problems []Problem // the first ones
	Notes    []Note    // the first ones
	Batch    tenant.BatchID
	Total    *Total // what files of its kind add up to; nil if they add up to nothing, and until it has succeeded
	LeftOut  []byte // the rows with problems, as csvfile.Table.LeftOut returns them; nil unless asked for
	Attempts int

	// Of the members that it created: who can be invited, and who cannot because they have no email.
	Invitable, WithoutEmail int

	Undo Undo

	DueAt     time.Time // zero once it has ended, unless it is being undone
	CreatedAt time.Time
	EndedAt   time.Time // zero until it has ended
}

// Total is what the rows of a file add up to, and what the ledger or the sessions have for them, or in a dry run would
// have. They are always equal.
type Total struct {
	File   int `json:"file"`
	Ledger int `json:"ledger"`
}

// Ended reports whether it succeeded or failed, whatever became of it then.
func (i Import) Ended() bool { return i.Status != Pending && i.Status != Running }

// Expires returns until when it can be read; zero until it has ended.
func (i Import) Expires() time.Time {
	if i.EndedAt.IsZero() {
		return time.Time{}
	}
	return i.EndedAt.Add(Life)
}

// Caller returns who started it, for what is created in their name.
func (i Import) Caller(in tenant.TenantID) tenant.Caller { return callerOf(in, i.Actor, i.Subject) }

func callerOf(in tenant.TenantID, actor, subject string) tenant.Caller {
	c := tenant.Caller{Tenant: in, Subject: subject}
	if id, err := tenant.Parse[tenant.MemberID](actor); err == nil {
		c.Member = id
	}
	return c
}

// Take gives a due import to a node, or ends it after too many attempts.
func (i Import) Take(now time.Time) Import {
	switch {
	case i.Status == Undoing && i.Attempts == maxAttempts:
		return i.RefuseUndo(fault.InternalError, "The import could not be undone. Please try again.")
	case i.Status == Undoing:
		i.Attempts, i.DueAt = i.Attempts+1, now.Add(Lease)
		return i
	case i.Attempts == maxAttempts:
		return i.Refuse(fault.InternalError, "The import could not be completed. Please try again.", now)
	}
	i.Status, i.Attempts = Running, i.Attempts+1
	i.Done, i.Invalid, i.Problems, i.Notes = 0, 0, nil, nil
	i.DueAt = now.Add(Lease)
	return i
}

// Checked says that some rows have been checked, with what was found so far.
func (i Import) Checked(done, invalid int, problems []Problem, notes []Note, now time.Time) Import {
	i.Done, i.Invalid, i.Problems = done, invalid, problems[:min(len(problems), MaxProblems)]
	i.Notes = notes[:min(len(notes), MaxProblems)]
	i.DueAt = now.Add(Lease)
	return i
}

// End ends an import whose rows have all been checked. It has succeeded if none has a problem, or if they may be left
// out and others are good.
func (i Import) End(good int, created []tenant.UUID, batch tenant.BatchID, total *Total, now time.Time) Import {
	i.Status, i.Done, i.Created, i.CreatedIDs, i.Batch = Failed, i.Rows, len(created), created, batch
	if i.Invalid == 0 || i.LeaveOut && good > 0 {
		i.Status, i.Total = Succeeded, total
	}
	i.DueAt, i.EndedAt = time.Time{}, now
	return i
}

// Refuse ends an import that failed as a whole.
func (i Import) Refuse(reason fault.Reason, why string, now time.Time) Import {
	i.Status, i.Created, i.CreatedIDs, i.Batch, i.Total = Failed, 0, nil, tenant.BatchID{}, nil
	whole := Problem{Row: 0, Problem: csvfile.Problem{Reason: reason, Column: "", Message: why}}
	i.Problems = append([]Problem{whole}, i.Problems[:min(len(i.Problems), MaxProblems-1)]...)
	i.DueAt, i.EndedAt = time.Time{}, now
	return i
}

// CheckUnended rejects another import of a tenant that has too many: QUOTA_EXCEEDED.
func CheckUnended(unended int) error {
	if unended < MaxUnended {
		return nil
	}
	return fault.OverQuota("imports", MaxUnended, "%d imports have not ended yet. Try again when one has.", unended)
}
