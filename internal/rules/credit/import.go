package credit

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// Limits of an imported file.
const (
	MaxImportBytes   = 3_000_000
	MaxImportRows    = 20_000
	maxImportBalance = 100_000
)

// ImportRow is one row of a file of the plans that members have in another program.
type ImportRow struct {
	csvfile.Row
	Person member.Person
	Member tenant.MemberID // whom Person names; zero until it was looked up

	Plan    string     // its name
	Balance *int       // the credits that are left; nil if the cell is empty
	Start   civil.Date // zero: today
	Renewal civil.Date // when the current period ends; zero if the cell is empty
	End     civil.Date // the last day; zero if the cell is empty
}

// Import has the rows of a file of plans and their problems.
type Import = csvfile.Table[ImportRow, *ImportRow]

// ParseImport reads plans from a CSV file. Chosen says what becomes of some of its columns. The error is
// IMPORT_INVALID: the file as a whole cannot be read, or INVALID_FIELD: the columns are not those of the file.
func ParseImport(file []byte, chosen ...csvfile.Match) (*Import, error) {
	found, err := importFormat.Parse(file, chosen)
	if err != nil {
		return nil, err
	}
	rejectRepeated(found.Rows)
	return found, nil
}

// maxCell is the length limit of a cell without free text, in characters.
const maxCell = 40

var importFormat = csvfile.Format[ImportRow, *ImportRow]{
	MaxBytes: MaxImportBytes,
	MaxRows:  MaxImportRows,
	Also:     member.PersonAlso(alsoCalled),
	Columns: append([]csvfile.Column[ImportRow]{
		{Name: "plan", Required: true, FreeText: true, MaxLength: 200, Read: func(r *ImportRow, s string) string {
			r.Plan = s
			return ""
		}},
		{Name: "balance", MaxLength: maxCell, Read: readBalance},
		{Name: "start", MaxLength: maxCell, Read: readDay(func(r *ImportRow) *civil.Date { return &r.Start })},
		{Name: "renewal", MaxLength: maxCell, Read: readDay(func(r *ImportRow) *civil.Date { return &r.Renewal })},
		{Name: "end", MaxLength: maxCell, Read: readDay(func(r *ImportRow) *civil.Date { return &r.End })},
	}, member.PersonColumns(func(r *ImportRow) *member.Person { return &r.Person })...),
	Header: member.MissingPerson,
	Row: func(r *ImportRow, _ csvfile.Cells) {
		if problem := r.Person.Complete(); problem != "" && len(r.Problems) == 0 {
			r.AddProblem(fault.InvalidField, "email", "%s", problem)
		}
	},
}

func readBalance(r *ImportRow, cell string) string {
	n, err := strconv.Atoi(cell)
	if err != nil || n < 0 || n > maxImportBalance {
		return fmt.Sprintf("%s is not a number of credits from 0 to %d.", csvfile.Quote(cell), maxImportBalance)
	}
	r.Balance = &n
	return ""
}

func readDay(of func(*ImportRow) *civil.Date) func(*ImportRow, string) string {
	return func(r *ImportRow, cell string) (problem string) {
		*of(r), problem = csvfile.Day(cell)
		return problem
	}
}

// rejectRepeated adds a problem to each row that says the same as an earlier one. A member can have a plan twice, but
// not with the same days and credits.
func rejectRepeated(rows []ImportRow) {
	type content struct {
		person              member.Person
		plan                string
		balance             int
		start, renewal, end civil.Date
	}
	first := make(map[content]int)
	for i := range rows {
		row := &rows[i]
		if len(row.Problems) > 0 {
			continue
		}
		says := content{row.Person, strings.ToLower(row.Plan), -1, row.Start, row.Renewal, row.End}
		if row.Balance != nil {
			says.balance = *row.Balance
		}
		if earlier, again := first[says]; again {
			row.AddProblem(fault.AlreadyExistsReason, "plan", "Row %d says the same.", earlier)
			continue
		}
		first[says] = row.Number
	}
}

// RejectHeld adds a problem to each row whose member has the plan already, such as by an earlier import of the same
// file. Held are subscriptions of the members that have not ended.
func RejectHeld(rows []ImportRow, held []Subscription) {
	type holder struct {
		member tenant.MemberID
		plan   string
	}
	has := make(map[holder]bool)
	for _, s := range held {
		has[holder{s.Member, strings.ToLower(s.Plan.Name)}] = true
	}
	for i := range rows {
		if row := &rows[i]; has[holder{row.Member, strings.ToLower(row.Plan)}] {
			row.AddProblem(fault.AlreadyExistsReason, "plan", "The member has this plan.")
		}
	}
}

// ImportReason is the reason of the lines that an import adds to ledgers.
const ImportReason = "Imported"

// StartImported makes the subscription that a row is about: with the credits that are left as its first line, whatever
// its plan grants. Days are those of the zone. It adds the problems of the row, and returns false if it has any.
func (r *ImportRow) StartImported(
	id tenant.SubscriptionID, plan Plan, zone *time.Location, actor string, now time.Time,
) (Subscription, []Line, bool) {
	if len(r.Problems) > 0 {
		return Subscription{}, nil, false
	}
	s := Subscription{
		ID: id, Member: r.Member, Plan: plan, Status: Active, StartsAt: now, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	if !r.Start.IsZero() {
		s.StartsAt = r.Start.On(zone)
	}
	switch {
	case !r.End.IsZero():
		s.EndsAt = new(r.End.AddDays(1).On(zone))
	case plan.Term != nil:
		s.EndsAt = new(s.StartsAt.Add(*plan.Term))
	}
	if !r.Renewal.IsZero() {
		s.PeriodEndsAt = new(r.Renewal.On(zone))
	}
	r.checkDays(s, now)
	r.checkCredits(plan)
	if len(r.Problems) > 0 {
		return Subscription{}, nil, false
	}
	if plan.Kind != Credits {
		return s, nil, true
	}
	return s, s.post(nil, Line{Kind: Grant, Amount: *r.Balance, Actor: actor, Reason: ImportReason, At: now}), true
}

// TakeOver adds to a ledger what paid for a booking in another program: it comes in and goes out, so that the balance
// is what was left there, and the booking holds credits to return.
func (s *Subscription) TakeOver(
	lines []Line, booking tenant.BookingID, credits int, actor string, now time.Time,
) []Line {
	lines = s.post(lines, Line{Kind: Grant, Amount: credits, Actor: actor, Reason: ImportReason, At: now})
	return s.post(lines, Line{
		Kind: Booking, Amount: -credits, Booking: booking, Actor: actor, Reason: ImportReason, At: now,
	})
}

// UndoImported ends a subscription that an import created, and takes what is left of its credits. Lines are those that
// Advance added. It reports whether anything changed.
func (s *Subscription) UndoImported(lines []Line, actor, reason string, now time.Time) ([]Line, bool) {
	before := *s
	if s.Status != Expired && s.Status != Cancelled {
		s.Status = Cancelled
	}
	lines = s.post(lines, Line{Kind: Correction, Amount: -s.Balance, Actor: actor, Reason: reason, At: now})
	if s.Status == before.Status && len(lines) == 0 {
		return nil, false
	}
	s.Version++
	s.UpdatedAt = now
	return lines, true
}

// UndoTakeOver reverses TakeOver after the credits were refunded: they go where they came from.
func (s *Subscription) UndoTakeOver(lines []Line, credits int, actor, reason string, now time.Time) []Line {
	return s.post(lines, Line{Kind: Correction, Amount: -credits, Actor: actor, Reason: reason, At: now})
}

// checkDays adds the problems with the days of a row's subscription.
func (r *ImportRow) checkDays(s Subscription, now time.Time) {
	if s.StartsAt.Sub(now) > maxStartDistance || now.Sub(s.StartsAt) > maxEndDistance {
		r.AddProblem(fault.InvalidField, "start", "A plan begins within the last ten years or the next year.")
	}
	switch {
	case s.EndsAt == nil:
	case !s.EndsAt.After(now) && r.End.IsZero():
		r.AddProblem(fault.InvalidField, "end", "By its term the plan has ended: give its last day if it has not.")
	case !s.EndsAt.After(now):
		r.AddProblem(fault.InvalidField, "end", "The plan has ended, so nothing is left of it.")
	case !s.EndsAt.After(s.StartsAt):
		r.AddProblem(fault.InvalidField, "end", "A plan ends after it starts.")
	case s.EndsAt.Sub(now) > maxEndDistance:
		r.AddProblem(fault.InvalidField, "end", "A plan ends within ten years.")
	}
	periodic := s.Plan.Kind == Credits && s.Plan.Period != nil
	switch {
	case s.PeriodEndsAt == nil && periodic:
		r.AddProblem(fault.InvalidField, "renewal", "Give the day on which the plan gives new credits.")
	case s.PeriodEndsAt == nil:
	case !periodic:
		r.AddProblem(fault.InvalidField, "renewal", "This plan does not renew credits: leave it empty.")
	case !s.PeriodEndsAt.After(now):
		r.AddProblem(fault.InvalidField, "renewal", "The day has come: give the next one, and the credits of that period.")
	case !s.PeriodEndsAt.After(s.StartsAt):
		r.AddProblem(fault.InvalidField, "renewal", "A period ends after the plan starts.")
	case s.PeriodEndsAt.Sub(now) > maxEndDistance:
		r.AddProblem(fault.InvalidField, "renewal", "A period ends within ten years.")
	}
}

// checkCredits adds the problems with the credits of a row.
func (r *ImportRow) checkCredits(plan Plan) {
	switch {
	case plan.Kind == Credits && r.Balance == nil:
		r.AddProblem(fault.InvalidField, "balance", "Say how many credits are left: 0 if none are.")
	case plan.Kind != Credits && r.Balance != nil && *r.Balance > 0:
		r.AddProblem(fault.InvalidField, "balance", "This plan does not use credits: leave it empty.")
	}
}

// CheckImported compares the credits of rows with those that the ledger has for each of them, and returns both sums.
// Rows that differ are IMPORT_MISMATCH.
func CheckImported(rows []ImportRow, ledger []int) (file, total int, err error) {
	for i, row := range rows {
		credits := 0
		if row.Balance != nil {
			credits = *row.Balance
		}
		if credits != ledger[i] {
			return 0, 0, fault.New(fault.FailedPrecondition, fault.ImportMismatch,
				"Row %d has %d credits left, and the ledger would have %d. Nothing was imported.",
				row.Number, credits, ledger[i]).WithMetadata("row", strconv.Itoa(row.Number))
		}
		file, total = file+credits, total+ledger[i]
	}
	return file, total, nil
}
