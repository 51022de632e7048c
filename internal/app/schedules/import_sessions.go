package schedules

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// SessionImport is the report on an imported file of sessions.
type SessionImport struct {
	session.Import
	Sessions []tenant.SessionID // created, in the order of the rows; none if a row has a problem, or in a dry run
	Batch    tenant.BatchID     // the import's id in the audit log; zero if no sessions were created
}

// CheckImport adds the problems of rows that can be seen without the others. It changes nothing.
func (s *Service) CheckImport(ctx context.Context, caller tenant.Caller, rows []session.ImportRow) error {
	read := func(ctx context.Context, b *pg.Batch) error { return s.engine.Read(ctx, caller, b) }
	names, err := loadNames(ctx, read, caller.Tenant, rows)
	if err != nil {
		return err
	}
	for i := range rows {
		if _, _, err := names.newSession(&rows[i], tenant.SessionID{}, s.engine.Now()); err != nil {
			return err
		}
	}
	return nil
}

// ImportSessions creates the sessions of a file. If any row has a problem it creates none, and the report lists the
// problems of each row. Problems include sessions that clash with each other or with existing sessions. In the same
// transaction it calls ended, if that is not nil.
func (s *Service) ImportSessions(
	ctx context.Context, caller tenant.Caller, parsed *session.Import, dryRun bool,
	ended func(context.Context, *engine.Tx, SessionImport) error,
) (SessionImport, error) {
	if ended == nil {
		ended = func(context.Context, *engine.Tx, SessionImport) error { return nil }
	}
	t := engine.Transaction{Name: "session.import", Races: []engine.Race{clashRace}}
	insert := func(ctx context.Context, tx *engine.Tx) (SessionImport, error) {
		// A copy, so that each attempt starts with the file's own problems.
		imported := SessionImport{Import: *parsed}
		imported.Rows = slices.Clone(parsed.Rows)
		sessions, err := checkRows(ctx, tx, imported.Rows)
		if err != nil {
			return imported, err
		}
		if dryRun || imported.InvalidRows() > 0 || len(sessions) == 0 {
			return imported, ended(ctx, tx, imported)
		}
		if err := tx.Grow(ctx, s.quota, len(sessions)); err != nil {
			return imported, err
		}
		imported.Sessions = idsOf(sessions)
		imported.Batch = tenant.NextID[tenant.BatchID](tx.IDs)
		if err := ended(ctx, tx, imported); err != nil {
			return imported, err
		}
		scheduledb.InsertSessions(tx.Tx, tx.Tenant, sessions)
		appendEvents(tx, func(s session.Session) event.Data { return s.Created(imported.Batch) }, sessions...)
		auditBatch(tx, "session.imported", imported.Batch, "", map[string]any{"ids": imported.Sessions})
		_, _, err = s.waitlists.FillAll(ctx, tx, waitlist.ByPublish, imported.Sessions...)
		return imported, err
	}
	imported, err := engine.Transact(ctx, s.engine, caller, t, insert)
	return imported, explainConflict("csv", err)
}

// UndoImport deletes sessions that an import created, which have no bookings.
func (s *Service) UndoImport(
	ctx context.Context, tx *engine.Tx, batch tenant.BatchID, ids []tenant.SessionID,
) error {
	var rows []scheduledb.Scheduled
	var b pg.Batch
	scheduledb.ListSessions(&b, tx.Tenant, scheduledb.SessionQuery{
		Filter: session.Filter{Sessions: ids}, Limit: len(ids),
	}, &rows)
	if err := tx.Load(ctx, &b); err != nil {
		return err
	}
	_, err := s.deleteSessions(ctx, tx, sessionsOf(rows), fileimport.UndoReason, false, batch)
	return err
}

// checkRows checks rows against the tenant's data. It adds problems to the rows, and returns the sessions of the rows
// without any.
func checkRows(ctx context.Context, tx *engine.Tx, rows []session.ImportRow) ([]session.Session, error) {
	names, err := loadNames(ctx, tx.Load, tx.Tenant, rows)
	if err != nil {
		return nil, err
	}
	var sessions []session.Session
	var rowOf []int // by session
	for i := range rows {
		s, ok, err := names.newSession(&rows[i], tenant.NextID[tenant.SessionID](tx.IDs), tx.Now)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		sessions, rowOf = append(sessions, s), append(rowOf, i)
	}
	if len(sessions) == 0 {
		return nil, nil
	}
	busy, err := findBusy(ctx, tx, sessions)
	if err != nil {
		return nil, err
	}
	for _, clash := range session.Clashes(sessions, busy) {
		row, reason, column, who := &rows[rowOf[clash.Session]], fault.ResourceBusy, "resource", "The resource"
		if clash.Coach {
			reason, column, who = fault.StaffBusy, "coach_email", "The staff member"
		}
		if clash.With >= 0 {
			row.AddProblem(reason, column, "%s is taken at that time by row %d.", who, rows[rowOf[clash.With]].Number)
			continue
		}
		const layout = "2006-01-02 15:04"
		zone := names.locations[row.Location].Zone
		start, end := clash.Span.Start.In(zone).Format(layout), clash.Span.End.In(zone).Format(layout)
		row.AddProblem(reason, column, "%s has another session from %s to %s.", who, start, end)
	}
	return sessions, nil
}

// importNames has what the names in a file refer to.
type importNames struct {
	services  map[string]scheduledb.NamedService
	locations map[string]importLocation
	resources map[[2]string]scheduledb.NamedResource // by location and name
	coaches   map[string]scheduledb.NamedCoach
}

type importLocation struct {
	id tenant.LocationID
	session.LocationReference
}

// newSession makes the session of a row, or adds the problems of the row.
func (n importNames) newSession(
	row *session.ImportRow, id tenant.SessionID, now time.Time,
) (made session.Session, ok bool, err error) {
	if len(row.Problems) > 0 {
		return made, false, nil
	}
	in, at := n.resolve(row)
	if len(row.Problems) > 0 {
		return made, false, nil
	}
	made, err = session.New(id, in, at, now)
	if err != nil {
		var f *fault.Error
		if !errors.As(err, &f) {
			return made, false, err
		}
		row.AddProblem(f.Reason, "", "%s", f.Message)
		return made, false, nil
	}
	if row.Publish {
		made.State = catalog.Published
	}
	return made, true, nil
}

func loadNames(
	ctx context.Context, read engine.Reader, in tenant.TenantID, rows []session.ImportRow,
) (importNames, error) {
	var services, locations, emails []string
	var pairs [][2]string
	for _, row := range rows {
		services, locations = append(services, row.Service), append(locations, row.Location)
		pairs, emails = append(pairs, [2]string{row.Location, row.Resource}), append(emails, row.CoachEmail)
	}
	var at, resources []string
	for _, pair := range pg.Distinct(pairs) {
		at, resources = append(at, pair[0]), append(resources, pair[1])
	}
	var (
		foundServices  []scheduledb.NamedService
		foundLocations []scheduledb.NamedLocation
		foundResources []scheduledb.NamedResource
		foundCoaches   []scheduledb.NamedCoach
		batch          pg.Batch
	)
	scheduledb.ListNamedServices(&batch, in, pg.Distinct(services), &foundServices)
	scheduledb.ListNamedLocations(&batch, in, pg.Distinct(locations), &foundLocations)
	scheduledb.ListNamedResources(&batch, in, at, resources, &foundResources)
	scheduledb.ListNamedCoaches(&batch, in, pg.Distinct(emails), &foundCoaches)
	if err := read(ctx, &batch); err != nil {
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
		setting, err := session.ZoneOf(catalog.Location{ID: l.ID, Active: l.Active, TimeZone: l.TimeZone})
		if err != nil {
			return names, err
		}
		names.locations[l.Name] = importLocation{l.ID, setting}
	}
	for _, r := range foundResources {
		names.resources[[2]string{r.Location, r.Name}] = r
	}
	for _, c := range foundCoaches {
		names.coaches[c.Email] = c
	}
	return names, nil
}

// resolve makes the input of a row's session. It adds a problem to the row for each unknown name.
func (n importNames) resolve(row *session.ImportRow) (session.Input, session.References) {
	service, location := n.services[row.Service], n.locations[row.Location]
	resource, coach := n.resources[[2]string{row.Location, row.Resource}], n.coaches[row.CoachEmail]
	in := session.Input{
		Service: service.ID, Location: location.id, Resource: resource.ID, Coach: coach.ID,
		Title: row.Title, Description: row.Notes, Capacity: row.Capacity, Unlimited: row.Unlimited,
		WaitlistCapacity: row.WaitlistCapacity,
	}
	at := session.References{
		Service:  service.ServiceReference,
		Location: location.LocationReference,
		Resource: session.ResourceReference{Active: resource.Active, Location: location.id},
		Coach:    session.CoachReference{CanLead: coach.Leads},
	}
	if !service.Active {
		row.AddProblem(fault.ServiceNotFound, "service", "There is no active service %q.", row.Service)
	}
	if row.Resource != "" && !resource.Active {
		row.AddProblem(fault.ResourceNotFound, "resource", "There is no active resource %q at the location.", row.Resource)
	}
	if row.CoachEmail != "" && !coach.Leads {
		row.AddProblem(fault.CoachInvalid, "coach_email", "%q is no active owner, admin or coach.", row.CoachEmail)
	}
	if !location.Active {
		row.AddProblem(fault.LocationNotFound, "location", "There is no active location %q.", row.Location)
		return in, at
	}
	span, ok := row.Span(location.Zone)
	if !ok {
		row.AddProblem(fault.InvalidField, "start", "There is no such time at the location on that day: its clocks change.")
	}
	in.StartsAt, in.EndsAt = span.Start, span.End
	return in, at
}
