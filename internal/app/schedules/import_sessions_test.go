package schedules_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// problems lists what a report has against a file: row, column, message.
func problems(report schedules.SessionImport) []string {
	var all []string
	for _, p := range report.Header {
		all = append(all, fmt.Sprintf("1 %s: %s", p.Column, p.Message))
	}
	for _, row := range report.Rows {
		for _, p := range row.Problems {
			all = append(all, fmt.Sprintf("%d %s: %s", row.Number, p.Column, p.Message))
		}
	}
	return all
}

func email(h *testkit.Studio, who tenant.Caller, address string) {
	h.T.Helper()
	h.EditMember(who, func(m *member.Member) { m.Email = address })
}

func TestImportSessions_CreatesEveryRow(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	room := h.AddResource(catalog.Resource{Name: "Studio"})
	email(h, h.Coach, "Carla@Example.com")
	file := testkit.ImportHeader +
		"VINYASA,pier 1,2026-03-28,18:00,19:30,,STUDIO,carla@example.COM,12,3,Late flow,Bring a mat.,published\n" +
		"Vinyasa,Pier 1,2026-03-29,18:00,,45,,,,,,,\n"

	if report := h.ImportSessions(file, true); report.InvalidRows() != 0 || report.Sessions != nil ||
		h.Count(`select count(*) from sessions`) != 0 {
		t.Fatalf("dry run: %+v, %d sessions", report, h.Count(`select count(*) from sessions`))
	}
	report := h.ImportSessions(file, false)
	if len(report.Sessions) != 2 || len(report.Rows) != 2 {
		t.Fatalf("%+v", report)
	}
	first, second := h.GetSession(report.Sessions[0]), h.GetSession(report.Sessions[1])
	want := session.Session{
		ID: first.ID,
		Details: session.Details{
			Service: h.Service, Location: h.Location, Resource: room, Coach: h.Coach.Member, Title: "Late flow",
			Description: "Bring a mat.",
			Capacity:    new(12), WaitlistCapacity: 3,
		},
		StartsAt: time.Date(2026, 3, 28, 17, 0, 0, 0, time.UTC), EndsAt: time.Date(2026, 3, 28, 18, 30, 0, 0, time.UTC),
		TimeZone: "Europe/Berlin", LocalDate: civil.MustParseDate("2026-03-28"),
		State: catalog.Published, Delivery: catalog.InPerson, Workouts: []tenant.WorkoutID{}, Version: 1,
		CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon, CoachName: "Carla Coach",
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if second.State != catalog.Draft || second.Capacity != nil || second.Title != "Vinyasa" ||
		second.WaitlistCapacity != 5 ||
		!second.StartsAt.Equal(time.Date(2026, 3, 29, 16, 0, 0, 0, time.UTC)) ||
		second.EndsAt.Sub(second.StartsAt) != 45*time.Minute {
		t.Errorf("%+v", second)
	}
	if n := h.Count(
		`select count(*) from audit_entries where action = 'session.imported' and batch_id is not null`,
	); n != 1 || h.SessionEvents(first.ID) != "session.created" {
		t.Errorf("%d audit entries, events %q", n, h.SessionEvents(first.ID))
	}
}

func TestImportSessions_ReportsProblemsByRow(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	there := h.OtherTenant()
	email(h, h.Coach, "carla@example.com")
	email(h, h.AddMember("Mia"), "mia@example.com")
	email(there, there.Coach, "theirs@example.com")
	there.AddResource(catalog.Resource{Name: "Their room"})
	h.AddResource(catalog.Resource{Name: "Studio"})
	closed := h.AddResource(catalog.Resource{Name: "Cellar"})
	h.SetResourceActive(closed, false)
	row := func(service, location, date, start, resource, coach string) string {
		return fmt.Sprintf("%s,%s,%s,%s,,60,%s,%s,,,,,\n", service, location, date, start, resource, coach)
	}
	report := h.ImportSessions(testkit.ImportHeader+
		row("Vinyasa", "Pier 1", "2026-03-28", "18:00", "Studio", "carla@example.com")+ // 2: in order
		row("Boxing", "Pier 1", "2026-03-28", "18:00", "", "")+ // 3
		row("Vinyasa", "Pier 9", "2026-03-28", "18:00", "", "")+ // 4
		row("Vinyasa", "Pier 1", "2026-03-28", "25:00", "", "")+ // 5
		row("Vinyasa", "Pier 1", "2026-03-28", "18:00", "Cellar", "mia@example.com")+ // 6
		row("Vinyasa", "Pier 1", "2026-03-28", "18:00", "Their room", "theirs@example.com")+ // 7
		row("Vinyasa", "Pier 1", "2046-03-28", "18:00", "", ""), // 8
		false)
	got := problems(report)
	want := []string{
		`3 service: There is no active service "Boxing".`,
		`4 location: There is no active location "Pier 9".`,
		`6 resource: There is no active resource "Cellar" at the location.`,
		`6 coach_email: "mia@example.com" is no active owner, admin or coach.`,
		`7 resource: There is no active resource "Their room" at the location.`,
		`7 coach_email: "theirs@example.com" is no active owner, admin or coach.`,
		`8 : A session starts within ten years of now.`,
	}
	got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "5 start: ") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if report.InvalidRows() != 6 || len(report.Rows) != 7 || report.Sessions != nil ||
		h.Count(`select count(*) from sessions`) != 0 {
		t.Errorf(
			"%d wrong, %d rows, %d sessions were made", report.InvalidRows(), len(report.Rows),
			h.Count(`select count(*) from sessions`),
		)
	}
}

func TestImportSessions_ReportsConflicts(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	email(h, h.Coach, "carla@example.com")
	room := h.AddResource(catalog.Resource{Name: "Studio"})
	in := h.SessionInput(time.Date(2026, 3, 28, 19, 0, 0, 0, time.UTC)) // eight to nine o'clock
	in.Resource, in.Coach = room, h.Coach.Member
	h.CreateSession(in, true)
	off := in
	off.StartsAt = time.Date(2026, 3, 28, 9, 0, 0, 0, time.UTC)
	if _, err := h.App.Schedules.CancelSession(
		context.Background(), h.Owner, h.CreateSession(off, true).ID, "", true,
	); err != nil {
		t.Fatal(err)
	}
	row := func(start, resource, coach string) string {
		return fmt.Sprintf("Vinyasa,Pier 1,2026-03-28,%s,,60,%s,%s,,,,,\n", start, resource, coach)
	}
	for _, dryRun := range []bool{true, false} {
		report := h.ImportSessions(testkit.ImportHeader+
			row("10:00", "Studio", "carla@example.com")+ // 2: what was called off takes no place
			row("17:00", "Studio", "")+ // 3
			row("17:30", "studio", "")+ // 4
			row("18:30", "", "carla@example.com")+ // 5
			row("19:00", "", "Carla@example.com")+ // 6
			row("20:30", "Studio", "carla@example.com")+ // 7
			row("21:00", "Studio", ""), // 8: as the other ends
			dryRun)
		want := []string{
			"4 resource: The resource is taken at that time by row 3.",
			"6 coach_email: The staff member is taken at that time by row 5.",
			"7 resource: The resource has another session from 2026-03-28 20:00 to 2026-03-28 21:00.",
			"7 coach_email: The staff member has another session from 2026-03-28 20:00 to 2026-03-28 21:00.",
			"8 resource: The resource is taken at that time by row 7.",
		}
		if diff := cmp.Diff(want, problems(report)); diff != "" {
			t.Errorf("dry run %v (-want +got)\n%s", dryRun, diff)
		}
	}
	if n := h.Count(`select count(*) from sessions`); n != 2 {
		t.Errorf("%d sessions were made", n-2)
	}
}

func TestImportSessions_RejectsBrokenFiles(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	for _, file := range []string{"", "PK\x03\x04", strings.Repeat("x", session.MaxImportBytes+1)} {
		_, err := h.App.Schedules.ImportSessions(context.Background(), h.Owner, []byte(file), false)
		testkit.WantReason(t, err, fault.ImportInvalid)
	}
	report := h.ImportSessions("service,location\nVinyasa,Pier 1\n", false)
	if len(report.Header) == 0 || report.Sessions != nil {
		t.Errorf("%+v", report)
	}
	if report := h.ImportSessions(testkit.ImportHeader, false); report.InvalidRows() != 0 || len(report.Sessions) != 0 {
		t.Errorf("%+v", report)
	}
}

func TestImportSessions_ImportsALargeFile(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.AddResource(catalog.Resource{Name: "Studio"})
	var file strings.Builder
	file.WriteString("service,location,date,start,duration_minutes,resource\n")
	day := civil.MustParseDate("2026-04-01")
	for n := range session.MaxImportRows {
		fmt.Fprintf(&file, "Vinyasa,Pier 1,%s,%02d:%02d,10,Studio\n", day.AddDays(n/100), 6+n%100/6, n%6*10)
	}
	report := h.ImportSessions(file.String(), false)
	if report.InvalidRows() > 0 {
		t.Fatalf("%v", problems(report)[:3])
	}
	if n := h.Count(`select count(*) from sessions`); n != session.MaxImportRows {
		t.Errorf("%d sessions", n)
	}
	if report := h.ImportSessions(file.String(), false); report.InvalidRows() != session.MaxImportRows {
		t.Errorf("the second time %d rows are in the way", report.InvalidRows())
	}
}
