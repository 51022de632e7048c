package scheduledb

import (
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

var workouts = pg.NewTable("w", func(w *session.Workout) []pg.Column {
	return []pg.Column{
		pg.Key("id", &w.ID),
		pg.Col("name", &w.Name),
		pg.Col("body", &w.Body),
		pg.Fixed("inline", &w.Inline),
		pg.Col("version", &w.Version),
		pg.Fixed("created_at", &w.CreatedAt),
		pg.Col("updated_at", &w.UpdatedAt),
		pg.Later("deleted_at", pg.Null(&w.DeletedAt)),
	}
})

var (
	findWorkouts = pg.SQL(`select ` + workouts.Columns() + ` from workouts w where w.tenant_id = $1 and w.id = any($2)`)
	listWorkouts = pg.SQL(`select ` + workouts.Columns() + ` from workouts w
where w.tenant_id = $1 and not w.inline and w.deleted_at is null
  and ($3::uuid is null or (lower(w.name), w.id) > (lower($2), $3))
order by lower(w.name), w.id limit $4`)
	listSessionWorkouts = pg.SQL(`select ` + workouts.Columns() + ` from session_workouts x
  join workouts w on w.tenant_id = x.tenant_id and w.id = x.workout_id
where x.tenant_id = $1 and x.session_id = $2 order by x.position`)
	insertWorkout = pg.SQL(`insert into workouts ` + workouts.Values())
	updateWorkout = pg.SQL(`update workouts set ` + workouts.Set() + ` where tenant_id = $1 and id = $2`)
)

// FindWorkouts reads workouts by id, in no particular order.
func FindWorkouts(b *pg.Batch, in tenant.TenantID, ids []tenant.WorkoutID, into *[]session.Workout) {
	workouts.List(b.Queue(findWorkouts, in, ids), into)
}

// FindWorkout reads a workout; nil if it does not exist.
func FindWorkout(b *pg.Batch, in tenant.TenantID, id tenant.WorkoutID, into **session.Workout) {
	workouts.Find(b.Queue(findWorkouts, in, []tenant.WorkoutID{id}), into)
}

// ListWorkouts reads reusable workouts in order of name, then id, after the given one. Deleted workouts are not
// included.
func ListWorkouts(
	b *pg.Batch, in tenant.TenantID, afterName string, afterID tenant.WorkoutID, limit int, into *[]session.Workout,
) {
	workouts.List(b.Queue(listWorkouts, in, afterName, afterID, limit), into)
}

// ListSessionWorkouts reads the workouts of a session in order.
func ListSessionWorkouts(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, into *[]session.Workout) {
	workouts.List(b.Queue(listSessionWorkouts, in, id), into)
}

// InsertWorkout inserts a workout.
func InsertWorkout(tx *pg.Tx, in tenant.TenantID, w session.Workout) {
	tx.Write(insertWorkout, workouts.Insert(in, &w)...)
}

// UpdateWorkout writes an edited or deleted workout.
func UpdateWorkout(tx *pg.Tx, in tenant.TenantID, w session.Workout) {
	tx.Write(updateWorkout, workouts.Update(in, &w)...)
}

// AttachWorkouts replaces the workouts of a session. It deletes inline workouts that are no longer attached, because no
// other session can show them.
func AttachWorkouts(tx *pg.Tx, in tenant.TenantID, id tenant.SessionID, attached []tenant.WorkoutID) {
	tx.Write(`
with gone as (
  delete from session_workouts where tenant_id = $1 and session_id = $2 returning workout_id)
delete from workouts w using gone
where w.tenant_id = $1 and w.id = gone.workout_id and w.inline and not coalesce(w.id = any($3), false)`,
		in, id, attached)
	tx.Write(`
insert into session_workouts (tenant_id, session_id, position, workout_id)
select $1, $2, x.position, x.id from unnest($3::uuid[]) with ordinality as x (id, position)`, in, id, attached)
	tx.Write(`update sessions set has_workouts = $3 where tenant_id = $1 and id = $2`, in, id, len(attached) > 0)
}
