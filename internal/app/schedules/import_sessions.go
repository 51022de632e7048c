package schedules

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// SessionImport is the report on a file of sessions.
type SessionImport struct {
	session.Import
	Sessions []tenant.SessionID // made, row by row; none where any row is wrong or in a dry run
}

// ImportSessions makes all sessions of a CSV file, or none where any row is wrong. The report tells row by row
// what is wrong, sessions that stand in each other's way and in the way of those that there are among it.
func (s *Service) ImportSessions(ctx context.Context, caller tenant.Caller, file []byte, dryRun bool) (SessionImport, error) {
	read, err := session.ParseImport(file)
	if err != nil {
		return SessionImport{}, err
	}
	var report SessionImport
	err = s.engine.Write(ctx, caller, "session.import", func(ctx context.Context, tx *engine.Tx) error {
		report = SessionImport{Import: session.Import{Header: read.Header, Rows: slices.Clone(read.Rows)}}
		for i := range report.Rows {
			report.Rows[i].Problems = slices.Clip(report.Rows[i].Problems) // the next attempt begins with the file's own
		}
		sessions, err := judgeRows(ctx, tx, report.Rows)
		if err != nil || dryRun || report.InvalidRows() > 0 || len(sessions) == 0 {
			return err
		}
		report.Sessions = idsOf(sessions)
		batch := tenant.NextID[tenant.BatchID](tx.IDs)
		scheduledb.InsertSessions(tx.Tx, tx.Tenant, sessions)
		tell(tx, outbox.SessionCreated, func(session.Session) map[string]any { return map[string]any{"batch_id": batch.String()} }, sessions...)
		auditBatch(tx, "session.imported", batch, "", map[string]any{"ids": texts(report.Sessions)})
		_, _, err = s.waitlists.FillAll(ctx, tx, waitlist.ByPublish, report.Sessions...)
		return err
	}, engine.Answers(&report), engine.Losing(byTakenPlace))
	return report, scheduleRefusal("csv", err)
}

// judgeRows looks at what takes a look at the tenant's own things, adds what is wrong to the rows, and
// gives the sessions of those in which nothing is.
func judgeRows(ctx context.Context, tx *engine.Tx, rows []session.ImportRow) ([]session.Session, error) {
	names, err := loadNames(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	var sessions []session.Session
	var places []int // of each session's row
	for i := range rows {
		row := &rows[i]
		if len(row.Problems) > 0 {
			continue
		}
		in, at := names.resolve(row)
		if len(row.Problems) > 0 {
			continue
		}
		s, err := session.New(tenant.NextID[tenant.SessionID](tx.IDs), in, at, tx.Now)
		if err != nil {
			var f *fault.Error
			if !errors.As(err, &f) {
				return nil, err
			}
			row.AddProblem("", "%s", f.Message)
			continue
		}
		if row.Publish {
			s.State = catalog.Published
		}
		sessions, places = append(sessions, s), append(places, i)
	}
	if len(sessions) == 0 {
		return nil, nil
	}
	busy, err := busyBeside(ctx, tx, sessions)
	if err != nil {
		return nil, err
	}
	for _, clash := range session.Clashes(sessions, busy) {
		row, column, who := &rows[places[clash.Session]], "resource", "The resource"
		if clash.Coach {
			column, who = "coach_email", "The staff member"
		}
		if clash.With >= 0 {
			row.AddProblem(column, "%s is taken at that time by row %d.", who, rows[places[clash.With]].Number)
			continue
		}
		zone := names.locations[row.Location].Zone
		const layout = "2006-01-02 15:04"
		row.AddProblem(column, "%s has another session from %s to %s.", who, clash.Span.Start.In(zone).Format(layout), clash.Span.End.In(zone).Format(layout))
	}
	return sessions, nil
}

// busyBeside loads what could stand in the way of sessions.
func busyBeside(ctx context.Context, tx *engine.Tx, sessions []session.Session) ([]session.BusySpan, error) {
	var resources []tenant.ResourceID
	var coaches []tenant.MemberID
	for _, s := range sessions {
		resources, coaches = append(resources, s.Resource), append(coaches, s.Coach)
	}
	var busy []session.BusySpan
	var batch pg.Batch
	scheduledb.ListBusySpans(&batch, tx.Tenant, engine.Distinct(resources), engine.Distinct(coaches), session.Bounds(sessions), &busy)
	err := tx.Load(ctx, &batch)
	return busy, err
}

// importNames is what there is under the names in a file.
type importNames struct {
	services  map[string]scheduledb.NamedService
	locations map[string]importLocation
	resources map[[2]string]scheduledb.NamedResource // by location and name
	coaches   map[string]scheduledb.NamedCoach
}

type importLocation struct {
	scheduledb.NamedLocation
	Zone *time.Location
}

func loadNames(ctx context.Context, tx *engine.Tx, rows []session.ImportRow) (importNames, error) {
	var services, locations, emails []string
	var pairs [][2]string
	for _, row := range rows {
		if len(row.Problems) > 0 {
			continue
		}
		services, locations = append(services, row.Service), append(locations, row.Location)
		if row.Resource != "" {
			pairs = append(pairs, [2]string{row.Location, row.Resource})
		}
		if row.CoachEmail != "" {
			emails = append(emails, row.CoachEmail)
		}
	}
	var at, resources []string
	for _, pair := range engine.Distinct(pairs) {
		at, resources = append(at, pair[0]), append(resources, pair[1])
	}
	var (
		foundServices  []scheduledb.NamedService
		foundLocations []scheduledb.NamedLocation
		foundResources []scheduledb.NamedResource
		foundCoaches   []scheduledb.NamedCoach
		batch          pg.Batch
	)
	scheduledb.ListNamedServices(&batch, tx.Tenant, engine.Distinct(services), &foundServices)
	scheduledb.ListNamedLocations(&batch, tx.Tenant, engine.Distinct(locations), &foundLocations)
	scheduledb.ListNamedResources(&batch, tx.Tenant, at, resources, &foundResources)
	scheduledb.ListNamedCoaches(&batch, tx.Tenant, engine.Distinct(emails), &foundCoaches)
	if err := tx.Load(ctx, &batch); err != nil {
		return importNames{}, err
	}
	names := importNames{
		services: make(map[string]scheduledb.NamedService), locations: make(map[string]importLocation),
		resources: make(map[[2]string]scheduledb.NamedResource), coaches: make(map[string]scheduledb.NamedCoach),
	}
	for _, s := range foundServices {
		names.services[s.Name] = s
	}
	for _, l := range foundLocations {
		at, err := session.ZoneOf(catalog.Location{ID: l.ID, TimeZone: l.TimeZone})
		if err != nil {
			return names, err
		}
		names.locations[l.Name] = importLocation{l, at.Zone}
	}
	for _, r := range foundResources {
		names.resources[[2]string{r.Location, r.Name}] = r
	}
	for _, c := range foundCoaches {
		names.coaches[c.Email] = c
	}
	return names, nil
}

// resolve turns a row into what staff would have sent, or refuses what it names.
func (n importNames) resolve(row *session.ImportRow) (session.Input, session.References) {
	service, location := n.services[row.Service], n.locations[row.Location]
	resource, coach := n.resources[[2]string{row.Location, row.Resource}], n.coaches[row.CoachEmail]
	in := session.Input{
		Service: service.ID, Location: location.ID, Resource: resource.ID, Coach: coach.ID,
		Title: row.Title, Description: row.Notes, Capacity: row.Capacity, Unlimited: row.Unlimited, WaitlistCapacity: row.WaitlistCapacity,
	}
	at := session.References{
		Service:  service.ServiceReference,
		Location: session.LocationReference{Active: location.Active, TimeZone: location.TimeZone, Zone: location.Zone},
		Resource: session.ResourceReference{Active: resource.Active, Location: location.ID},
		Coach:    session.CoachReference{CanLead: coach.Leads},
	}
	if !service.Active {
		row.AddProblem("service", "There is no active service %q.", row.Service)
	}
	if row.Resource != "" && !resource.Active {
		row.AddProblem("resource", "There is no active resource %q at the location.", row.Resource)
	}
	if row.CoachEmail != "" && !coach.Leads {
		row.AddProblem("coach_email", "%q is no active owner, admin or coach.", row.CoachEmail)
	}
	if !location.Active {
		row.AddProblem("location", "There is no active location %q.", row.Location)
		return in, at
	}
	span, ok := row.Span(location.Zone)
	if !ok {
		row.AddProblem("start", "There is no such time at the location on that day: its clocks change.")
	}
	in.StartsAt, in.EndsAt = span.Start, span.End
	return in, at
}
