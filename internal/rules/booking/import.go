package booking

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fold"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// Limits of an imported file.
const (
	MaxImportBytes = 3_000_000
	MaxImportRows  = 20_000
	maxImportSeats = 1000
)

// ImportRow is one row of a file of bookings.
type ImportRow struct {
	csvfile.Row
	Person member.Person
	Member tenant.MemberID // whom Person names; zero for a guest, and until it was looked up
	Guest  string          // a guest's name; Person then has their email and phone

	// Service is a name and never empty. Location and Resource are names or empty.
	Service, Location, Resource string
	// Date and Start are local to the location.
	Date  civil.Date
	Start civil.TimeOfDay
	Seats int
	// Paid are the credits that paid for it: none, or one for each seat. Plan names the plan to which they return; empty:
	// the only one with credits.
	Paid int
	Plan string

	dated bool   // Start came with its date
	paid  string // the cell
}

// Import has the rows of a file of bookings and their problems.
type Import = csvfile.Table[ImportRow, *ImportRow]

// ParseImport reads bookings from a CSV file. Chosen says what becomes of some of its columns. The error is
// IMPORT_INVALID: the file as a whole cannot be read, or INVALID_FIELD: the columns are not those of the file.
func ParseImport(file []byte, chosen ...csvfile.Match) (*Import, error) {
	return importFormat.Parse(file, chosen)
}

// maxCell is the length limit of a cell without free text, in characters.
const maxCell = 40

func readName(of func(*ImportRow) *string) func(*ImportRow, string) string {
	return func(r *ImportRow, cell string) string {
		*of(r) = cell
		return ""
	}
}

var importFormat = csvfile.Format[ImportRow, *ImportRow]{
	MaxBytes: MaxImportBytes,
	MaxRows:  MaxImportRows,
	Also:     member.PersonAlso(alsoCalled),
	Columns: append([]csvfile.Column[ImportRow]{
		{
			Name: "service", Required: true, FreeText: true, MaxLength: 200,
			Read: readName(func(r *ImportRow) *string { return &r.Service }),
		},
		{Name: "start", Required: true, MaxLength: maxCell, Read: readStart},
		{Name: "date", MaxLength: maxCell, Read: func(r *ImportRow, cell string) string {
			day, problem := csvfile.Day(cell)
			if problem == "" && r.dated && r.Date != day {
				return "It is another day than in start."
			}
			r.Date = day
			return problem
		}},
		{
			Name: "location", FreeText: true, MaxLength: 200,
			Read: readName(func(r *ImportRow) *string { return &r.Location }),
		},
		{
			Name: "resource", FreeText: true, MaxLength: 200,
			Read: readName(func(r *ImportRow) *string { return &r.Resource }),
		},
		{Name: "seats", MaxLength: maxCell, Read: func(r *ImportRow, cell string) (problem string) {
			n, err := strconv.Atoi(cell)
			if r.Seats = n; err != nil || n < 1 || n > maxImportSeats {
				return fmt.Sprintf("%s is not a number of seats from 1 to %d.", csvfile.Quote(cell), maxImportSeats)
			}
			return ""
		}},
		{Name: "credits_paid", MaxLength: maxCell, Read: readName(func(r *ImportRow) *string { return &r.paid })},
		{
			Name: "plan", FreeText: true, MaxLength: 200,
			Read: readName(func(r *ImportRow) *string { return &r.Plan }),
		},
		{Name: "status", FreeText: true, MaxLength: maxCell, Read: readStatus},
		{
			Name: "guest", FreeText: true, MaxLength: 200,
			Read: readName(func(r *ImportRow) *string { return &r.Guest }),
		},
	}, member.PersonColumns(func(r *ImportRow) *member.Person { return &r.Person })...),
	Header: func(file csvfile.Cells) []csvfile.Problem {
		if file.Has("guest") {
			return nil
		}
		return member.MissingPerson(file)
	},
	Row: checkImportRow,
}

// readStart reads a time of day, or a day and a time.
func readStart(r *ImportRow, cell string) string {
	text := cell
	if day, clock, both := strings.Cut(strings.ReplaceAll(cell, "T", " "), " "); both {
		if date, problem := csvfile.Day(strings.TrimSuffix(day, ",")); problem == "" {
			if !r.Date.IsZero() && r.Date != date {
				return "It has another day than date."
			}
			r.Date, r.dated, text = date, true, strings.TrimSpace(clock)
		}
	}
	var problem string
	r.Start, problem = csvfile.TimeOfDay(text)
	return problem
}

// readStatus refuses what is no booking any more, or not yet one.
func readStatus(_ *ImportRow, cell string) string {
	switch fold.Text(cell) {
	case "confirmed", "booked", "reserved", "active", "bestatigt", "gebucht", "reserviert", "aktiv", "confirme",
		"confirmee", "reserve", "reservee", "actif":
		return ""
	}
	return fmt.Sprintf("%s is not a status of a booking that goes on: only confirmed or booked ones are imported.",
		csvfile.Quote(cell))
}

func checkImportRow(r *ImportRow, _ csvfile.Cells) {
	if len(r.Problems) > 0 {
		return
	}
	r.Seats = max(r.Seats, 1)
	if r.Date.IsZero() {
		r.AddProblem(fault.InvalidField, "date", "Give the day, here or in start.")
	}
	switch fold.Text(r.paid) {
	case "", "-", "0", "no", "n", "false", "nein", "non", "faux", "falsch":
	case "yes", "y", "true", "x", "ja", "j", "wahr", "oui", "o", "vrai", strconv.Itoa(r.Seats):
		r.Paid = r.Seats
	default:
		r.AddProblem(fault.InvalidField, "credits_paid",
			"%s is neither yes or no, nor 0 or a credit for each of the seats.", csvfile.Quote(r.paid))
	}
	problem := r.Person.Complete()
	switch {
	case r.Guest == "" && problem != "":
		r.AddProblem(fault.InvalidField, "email", "%s", problem)
	case r.Guest != "" && (r.Paid > 0 || r.Plan != ""):
		r.AddProblem(fault.InvalidField, "credits_paid", "A guest has no plan that paid.")
	}
}

// Contact is how to reach a guest; empty for a member.
func (r *ImportRow) Contact() Contact {
	if r.Guest == "" {
		return Contact{}
	}
	return Contact{Name: r.Guest, Email: r.Person.Email, Phone: r.Person.Phone}
}

// Site is an active location that a file can name.
type Site struct {
	ID   tenant.LocationID
	Name string
	Zone *time.Location
}

// Starts are the times in UTC at which a row's session can start: one for each location that it can be at. A location
// whose clocks skip the day has none.
func (r *ImportRow) Starts(sites []Site) map[tenant.LocationID]time.Time {
	starts := make(map[tenant.LocationID]time.Time)
	for _, s := range sites {
		if (r.Location == "" || fold.Text(r.Location) == fold.Text(s.Name)) && r.Date.In(s.Zone) {
			starts[s.ID] = r.Date.At(r.Start, s.Zone).UTC()
		}
	}
	return starts
}

// ImportSlot is a session that a file can name.
type ImportSlot struct {
	Slot
	ServiceName, ResourceName string
}

// FindSession returns the session of a row among those that start at one of its times, or adds the problem to the row.
func (r *ImportRow) FindSession(sites []Site, at map[time.Time][]*ImportSlot) *ImportSlot {
	starts := r.Starts(sites)
	switch {
	case len(sites) == 0:
		r.AddProblem(fault.LocationNotFound, "location", "There is no active location yet, so there are no sessions.")
		return nil
	case len(starts) == 0 && r.Location == "":
		r.AddProblem(fault.SessionNotFound, "date", "No location has this day: its clocks skip it.")
		return nil
	case len(starts) == 0:
		r.AddProblem(fault.LocationNotFound, "location", "There is no active location %q.", r.Location)
		return nil
	}
	seen, found := make(map[time.Time]bool), []*ImportSlot(nil)
	for _, start := range starts {
		if seen[start] {
			continue
		}
		seen[start] = true
		for _, s := range at[start] {
			same := fold.Text(s.ServiceName) == fold.Text(r.Service) && starts[s.Location].Equal(s.StartsAt)
			if same && (r.Resource == "" || fold.Text(s.ResourceName) == fold.Text(r.Resource)) {
				found = append(found, s)
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		r.AddProblem(fault.SessionNotFound, "start", "No session of this service starts then.")
	default:
		r.AddProblem(fault.SessionNotFound, "start",
			"Several sessions of this service start then: give location and resource.")
	}
	return nil
}
