package session

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
)

// Limits of an imported file.
const (
	MaxImportBytes = 1 << 20
	MaxImportRows  = 5000
)

// ImportRow is one row of a file of sessions. The caller looks up its names in the tenant's catalog, and calls Refuse
// for unknown ones.
type ImportRow struct {
	csvfile.Row

	// Service and Location are names and never empty. Resource is a name or empty.
	Service, Location, Resource string
	// CoachEmail is an address or empty.
	CoachEmail string
	// Title and Notes can be empty. Notes can have several lines.
	Title, Notes string
	// Date and Start are local to the location.
	Date  civil.Date
	Start civil.TimeOfDay
	// End is later on the same day; nil if Duration is set.
	End *civil.TimeOfDay
	// Duration is elapsed time; zero if End is set.
	Duration time.Duration
	// Capacity is nil if the file has no such column: the service's default applies. An empty cell in the column sets
	// Unlimited.
	Capacity  *int
	Unlimited bool
	// WaitlistCapacity is nil for the service's default.
	WaitlistCapacity *int
	// Publish publishes the session immediately. Otherwise it is a draft.
	Publish bool
}

// ImportProblem is a problem with a row of an imported file.
type ImportProblem = csvfile.Problem

// Import has the rows of a file of sessions and their problems.
type Import = csvfile.Table[ImportRow, *ImportRow]

// ParseImport reads sessions from a CSV file. Chosen says what becomes of some of its columns. The error is
// IMPORT_INVALID: the file as a whole cannot be read, or INVALID_FIELD: the columns are not those of the file.
func ParseImport(file []byte, chosen ...csvfile.Match) (*Import, error) {
	return importFormat.Parse(file, chosen)
}

// Span returns the span of the row's session in a zone. It returns false if the zone skipped the day, or if a clock
// change leaves no time between start and end.
func (r *ImportRow) Span(zone *time.Location) (civil.Span, bool) {
	span := civil.Span{Start: r.Date.At(r.Start, zone)}
	span.End = span.Start.Add(r.Duration)
	if r.End != nil {
		span.End = r.Date.At(*r.End, zone)
	}
	return span, r.Date.In(zone) && span.Length() > 0
}

// maxCell is the length limit of a cell without free text, in characters.
const maxCell = 40

// RefusePublished adds a problem to each row that is published, for a caller who may not publish.
func RefusePublished(rows []ImportRow) {
	for i := range rows {
		if rows[i].Publish {
			rows[i].AddProblem(
				fault.PermissionDeniedReason, "status", "Publishing needs the permission session.create_published.",
			)
		}
	}
}

var importFormat = csvfile.Format[ImportRow, *ImportRow]{
	MaxBytes: MaxImportBytes,
	MaxRows:  MaxImportRows,
	Also:     alsoCalled,
	Columns: []csvfile.Column[ImportRow]{
		{Name: "service", Required: true, FreeText: true, MaxLength: 200, Read: func(r *ImportRow, s string) string {
			r.Service = s
			return ""
		}},
		{Name: "location", Required: true, FreeText: true, MaxLength: 200, Read: func(r *ImportRow, s string) string {
			r.Location = s
			return ""
		}},
		{Name: "resource", FreeText: true, MaxLength: 200, Read: func(r *ImportRow, s string) string {
			r.Resource = s
			return ""
		}},
		{Name: "coach_email", FreeText: true, MaxLength: field.MaxEmail, Read: readImportCoach},
		{Name: "date", Required: true, MaxLength: maxCell, Read: readImportDate},
		{Name: "start", Required: true, MaxLength: maxCell, Read: func(r *ImportRow, s string) (problem string) {
			r.Start, problem = csvfile.TimeOfDay(s)
			return problem
		}},
		{Name: "end", MaxLength: maxCell, Read: func(r *ImportRow, s string) string {
			end, problem := csvfile.TimeOfDay(s)
			r.End = &end
			return problem
		}},
		{Name: "duration_minutes", MaxLength: maxCell, Read: func(r *ImportRow, s string) string {
			minutes, problem := parseImportNumber(s, 1, 7*24*60)
			r.Duration = time.Duration(minutes) * time.Minute
			return problem
		}},
		{Name: "capacity", MaxLength: maxCell, Read: func(r *ImportRow, s string) string {
			capacity, problem := parseImportNumber(s, 0, 100_000)
			r.Capacity = &capacity
			return problem
		}, Empty: func(r *ImportRow) { r.Unlimited = true }},
		{Name: "waitlist_capacity", MaxLength: maxCell, Read: func(r *ImportRow, s string) string {
			capacity, problem := parseImportNumber(s, 0, 10_000)
			r.WaitlistCapacity = &capacity
			return problem
		}},
		{Name: "title", FreeText: true, MaxLength: 200, Read: func(r *ImportRow, s string) string {
			r.Title = s
			return ""
		}},
		{Name: "notes", FreeText: true, Multiline: true, MaxLength: 4000, Read: func(r *ImportRow, s string) string {
			r.Notes = s
			return ""
		}},
		{Name: "status", MaxLength: maxCell, Read: readImportStatus},
	},
	Header: func(file csvfile.Cells) []csvfile.Problem {
		if file.Has("end") || file.Has("duration_minutes") {
			return nil
		}
		return []csvfile.Problem{{
			Reason: fault.InvalidField, Column: "end", Message: "The column is missing: give end or duration_minutes.",
		}}
	},
	Row: checkImportEnd,
}

// checkImportEnd checks that a row has an end or a duration, but not both, and that the end is after the start.
func checkImportEnd(r *ImportRow, cells csvfile.Cells) {
	end, duration := cells.Filled("end"), cells.Filled("duration_minutes")
	switch {
	case end && duration:
		r.AddProblem(fault.InvalidField, "end", "Give end or duration_minutes, not both.")
	case !end && !duration && (cells.Has("end") || cells.Has("duration_minutes")):
		r.AddProblem(fault.InvalidField, "end", "Give end or duration_minutes.")
	case len(r.Problems) == 0 && r.End != nil && !r.Start.Before(*r.End):
		r.AddProblem(
			fault.InvalidField, "end", "The end must be after the start. For a session past midnight give duration_minutes.",
		)
	}
}

func readImportCoach(r *ImportRow, text string) string {
	var problem string
	if r.CoachEmail, problem = field.Email(text); problem != "" {
		return fmt.Sprintf("%s: %s", csvfile.Quote(text), problem)
	}
	return ""
}

func readImportDate(r *ImportRow, text string) string {
	date, err := civil.ParseDate(text)
	if err != nil {
		return fmt.Sprintf("%s is not a date in the form 2026-03-29.", csvfile.Quote(text))
	}
	r.Date = date
	return ""
}

func readImportStatus(r *ImportRow, text string) string {
	switch strings.ToLower(text) {
	case "draft":
	case "published":
		r.Publish = true
	default:
		return fmt.Sprintf("%s is not a status. Use draft or published.", csvfile.Quote(text))
	}
	return ""
}

func parseImportNumber(text string, low, high int) (n int, problem string) {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high || strings.HasPrefix(text, "+") {
		return 0, fmt.Sprintf("%s is not a whole number from %d to %d.", csvfile.Quote(text), low, high)
	}
	return n, ""
}
