package schedules_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// problems lists what a report has against a file: row, column, message.
func problems(imported schedules.SessionImport) []string {
	var all []string
	for _, p := range imported.Header {
		all = append(all, fmt.Sprintf("1 %s: %s", p.Column, p.Message))
	}
	for _, row := range imported.Rows {
		for _, p := range row.Problems {
			all = append(all, fmt.Sprintf("%d %s: %s", row.Number, p.Column, p.Message))
		}
	}
	return all
}

func email(studio *testkit.Studio, who tenant.Caller, address string) {
	studio.T.Helper()
	studio.EditMember(who, func(m *member.Member) { m.Email = address })
}

func TestImportSessions_CreatesEveryRow(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	room := studio.AddResource(catalog.Resource{Name: "Studio"})
	email(studio, studio.Coach, "Carla@Example.com")
	file := testkit.ImportHeader +
		"VINYASA,pier 1,2026-03-28,18:00,19:30,,STUDIO,carla@example.COM,12,3,Late flow,Bring a mat.,published\n" +
		"Vinyasa,Pier 1,2026-03-29,18:00,,45,,,,,,,\n"

	if imported := studio.ImportSessions(file, true); imported.InvalidRows() != 0 || imported.Sessions != nil ||
		studio.Count(`select count(*) from sessions`) != 0 {
		t.Fatalf("dry run: %+v, %d sessions", imported, studio.Count(`select count(*) from sessions`))
	}
	imported := studio.ImportSessions(file, false)
	must.SliceLen(t, 2, imported.Sessions)
	must.SliceLen(t, 2, imported.Rows)
	first, second := studio.GetSession(imported.Sessions[0]), studio.GetSession(imported.Sessions[1])
	want := session.Session{
		ID: first.ID,
		Details: session.Details{
			Service: studio.Service, Location: studio.Location, Resource: room, Coach: studio.Coach.Member, Title: "Late flow",
			Description: "Bring a mat.",
			Capacity:    new(12), WaitlistCapacity: 3,
		},
		StartsAt: time.Date(2026, 3, 28, 17, 0, 0, 0, time.UTC), EndsAt: time.Date(2026, 3, 28, 18, 30, 0, 0, time.UTC),
		TimeZone: "Europe/Berlin", LocalDate: civiltest.Date("2026-03-28"),
		State: catalog.Published, Delivery: catalog.InPerson, Workouts: []tenant.WorkoutID{}, Version: 1,
		CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon, CoachName: "Carla Coach",
	}
	test.Eq(t, want, first)
	test.EqOp(t, catalog.Draft, second.State)
	must.Nil(t, second.Capacity)
	test.EqOp(t, "Vinyasa", second.Title)
	test.EqOp(t, 5, second.WaitlistCapacity)
	test.True(t, second.StartsAt.Equal(time.Date(2026, 3, 29, 16, 0, 0, 0, time.UTC)), test.Sprintf("%+v", second))
	test.EqOp(t, 45*time.Minute, second.EndsAt.Sub(second.StartsAt))
	n := studio.Count(
		`select count(*) from audit_entries where action = 'session.imported' and batch_id is not null`,
	)
	test.EqOp(t, 1, n, test.Sprintf("%d audit entries, events %q", n, studio.SessionEvents(first.ID)))
	test.EqOp(t, "session.created", studio.SessionEvents(first.ID),
		test.Sprintf("%d audit entries, events %q", n, studio.SessionEvents(first.ID)))
}

func TestImportSessions_ReportsProblemsByRow(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	there := studio.OtherTenant()
	email(studio, studio.Coach, "carla@example.com")
	email(studio, studio.AddMember("Mia"), "mia@example.com")
	email(there, there.Coach, "theirs@example.com")
	there.AddResource(catalog.Resource{Name: "Their room"})
	studio.AddResource(catalog.Resource{Name: "Studio"})
	studio.SetResourceActive(studio.AddResource(catalog.Resource{Name: "Cellar"}), false)
	row := func(service, location, date, start, resource, coach string) string {
		return fmt.Sprintf("%s,%s,%s,%s,,60,%s,%s,,,,,\n", service, location, date, start, resource, coach)
	}
	imported := studio.ImportSessions(testkit.ImportHeader+
		row("Vinyasa", "Pier 1", "2026-03-28", "00:00", "Studio", "carla@example.com")+ // 2: in order
		row("Boxing", "Pier 1", "2026-03-28", "00:00", "Studio", "")+ // 3: that 2 has the room is no news
		row("Vinyasa", "Pier 9", "2026-03-28", "18:00", "", "")+ // 4
		row("Vinyasa", "Pier 1", "2026-03-28", "25:00", "Studio", "")+ // 5: nor here
		row("Vinyasa", "Pier 1", "2026-03-28", "18:00", "Cellar", "mia@example.com")+ // 6
		row("Vinyasa", "Pier 1", "2026-03-28", "18:00", "Their room", "theirs@example.com")+ // 7
		row("Vinyasa", "Pier 1", "2046-03-28", "18:00", "", "")+ // 8
		"Vinyasa,Pier 1,2026-03-29,02:30,03:30,,,,,,,,\n", // 9: clocks go from 02:00 to 03:00
		false)
	want := []string{
		`3 service: There is no active service "Boxing".`,
		`4 location: There is no active location "Pier 9".`,
		`5 start: "25:00" is not a time of day in the form 18:00.`,
		`6 resource: There is no active resource "Cellar" at the location.`,
		`6 coach_email: "mia@example.com" is no active owner, admin or coach.`,
		`7 resource: There is no active resource "Their room" at the location.`,
		`7 coach_email: "theirs@example.com" is no active owner, admin or coach.`,
		`8 : A session starts within ten years of now.`,
		`9 start: There is no such time at the location on that day: its clocks change.`,
	}
	test.Eq(t, want, problems(imported))
	test.EqOp(t, 7, imported.InvalidRows(),
		test.Sprintf(
			"%d wrong, %d rows, %d sessions were made",
			imported.InvalidRows(), len(imported.Rows), studio.Count(`select count(*) from sessions`),
		))
	must.SliceLen(t, 8, imported.Rows,
		must.Sprintf(
			"%d wrong, %d rows, %d sessions were made",
			imported.InvalidRows(), len(imported.Rows), studio.Count(`select count(*) from sessions`),
		))
	test.Nil(t, imported.Sessions,
		test.Sprintf(
			"%d wrong, %d rows, %d sessions were made",
			imported.InvalidRows(), len(imported.Rows), studio.Count(`select count(*) from sessions`),
		))
	test.EqOp(t, 0, studio.Count(`select count(*) from sessions`),
		test.Sprintf(
			"%d wrong, %d rows, %d sessions were made",
			imported.InvalidRows(), len(imported.Rows), studio.Count(`select count(*) from sessions`),
		))
}

func TestImportSessions_ReportsConflicts(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	email(studio, studio.Coach, "carla@example.com")
	room := studio.AddResource(catalog.Resource{Name: "Studio"})
	in := studio.SessionInput(time.Date(2026, 3, 28, 19, 0, 0, 0, time.UTC)) // eight to nine o'clock
	in.Resource, in.Coach = room, studio.Coach.Member
	studio.CreateSession(in, true)
	off := in
	off.StartsAt = time.Date(2026, 3, 28, 9, 0, 0, 0, time.UTC)
	expect.OK(t)(studio.App.Schedules.CancelSession(
		context.Background(), studio.Owner, studio.CreateSession(off, true).ID, schedules.Removal{Notify: true},
	))
	row := func(start, resource, coach string) string {
		return fmt.Sprintf("Vinyasa,Pier 1,2026-03-28,%s,,60,%s,%s,,,,,\n", start, resource, coach)
	}
	for _, dryRun := range []bool{true, false} {
		imported := studio.ImportSessions(testkit.ImportHeader+
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
		test.Eq(t, want, problems(imported), test.Sprintf("dry run %v", dryRun))
	}
	test.EqOp(t, 2, studio.Count(`select count(*) from sessions`), test.Sprint("sessions were made"))
}

// Of two who import sessions for one room or one coach at once, the second gets a report of what the first has taken.
func TestImportSessions_RaceForTheSameTime(t *testing.T) {
	t.Parallel()
	testkit.EachRace(t, map[string]string{"resource": "Studio,", "coach_email": ",carla@example.com"}, func(
		b *testkit.Barrier, studio *testkit.Studio, cells string,
	) {
		studio.AddResource(catalog.Resource{Name: "Studio"})
		email(studio, studio.Coach, "carla@example.com")
		var reports [2]schedules.SessionImport
		load := func(i int) func() {
			return func() {
				reports[i] = studio.ImportSessions(
					testkit.ImportHeader+"Vinyasa,Pier 1,2026-03-28,18:00,,60,"+cells+",,,,,\n", false,
				)
			}
		}
		b.Run(load(0), load(1))
		test.Eq(studio.T, [2]int{1, 1}, [2]int{
			len(reports[0].Sessions) + len(reports[1].Sessions), reports[0].InvalidRows() + reports[1].InvalidRows(),
		}, test.Sprint("imported, refused"))
	})
}

func TestImportSessions_ImportsALargeFile(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.AddResource(catalog.Resource{Name: "Studio"})
	var file strings.Builder
	file.WriteString("service,location,date,start,duration_minutes,resource\n")
	day := civiltest.Date("2026-04-01")
	for n := range session.MaxImportRows {
		fmt.Fprintf(&file, "Vinyasa,Pier 1,%s,%02d:%02d,10,Studio\n", day.AddDays(n/100), 6+n%100/6, n%6*10)
	}
	imported := studio.ImportSessions(file.String(), false)
	must.EqOp(t, 0, imported.InvalidRows(), must.Sprintf("%v", problems(imported)))
	test.EqOp(t, session.MaxImportRows, studio.Count(`select count(*) from sessions`), test.Sprint("sessions"))
	imported = studio.ImportSessions(file.String(), false)
	test.EqOp(
		t, session.MaxImportRows, imported.InvalidRows(),
		test.Sprintf("the second time %d rows are in the way", imported.InvalidRows()),
	)
}
