package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

const workoutColumns = ` w.id, w.name, w.body, w.inline, w.version, w.created_at, w.updated_at, w.deleted_at`

func collectWorkout(row pgx.CollectableRow) (session.Workout, error) {
	var w session.Workout
	var deleted *time.Time
	err := row.Scan(&w.ID, &w.Name, &w.Body, &w.Inline, &w.Version, &w.CreatedAt, &w.UpdatedAt, &deleted)
	if deleted != nil {
		w.DeletedAt = *deleted
	}
	return w, err
}

// FindWorkouts reads workouts by their ids, in no particular order.
func FindWorkouts(b *pg.Batch, in tenant.TenantID, ids []tenant.WorkoutID, into *[]session.Workout) {
	pg.Collect(b.Queue(`select`+workoutColumns+` from workouts w where w.tenant_id = $1 and w.id = any($2)`, in, ids), into, collectWorkout)
}

// ListWorkouts reads the reusable ones in use by name, then id, from behind the one given.
func ListWorkouts(b *pg.Batch, in tenant.TenantID, afterName string, afterID tenant.WorkoutID, limit int, into *[]session.Workout) {
	pg.Collect(b.Queue(`select`+workoutColumns+` from workouts w
where w.tenant_id = $1 and not w.inline and w.deleted_at is null and ($3::uuid is null or (lower(w.name), w.id) > (lower($2), $3))
order by lower(w.name), w.id limit $4`, in, afterName, afterID, limit), into, collectWorkout)
}

// ListSessionWorkouts reads those of a session in order.
func ListSessionWorkouts(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, into *[]session.Workout) {
	pg.Collect(b.Queue(`select`+workoutColumns+` from session_workouts x
  join workouts w on w.tenant_id = x.tenant_id and w.id = x.workout_id
where x.tenant_id = $1 and x.session_id = $2 order by x.position`, in, id), into, collectWorkout)
}

// InsertWorkout writes a new workout with the transaction.
func InsertWorkout(tx *pg.Tx, in tenant.TenantID, w session.Workout) {
	tx.Write(`insert into workouts (tenant_id, id, name, body, inline, version, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		in, w.ID, w.Name, w.Body, w.Inline, w.Version, w.CreatedAt, w.UpdatedAt)
}

// UpdateWorkout writes what may change of a workout with the transaction.
func UpdateWorkout(tx *pg.Tx, in tenant.TenantID, w session.Workout) {
	tx.Write(`update workouts set name = $3, body = $4, version = $5, updated_at = $6, deleted_at = $7 where tenant_id = $1 and id = $2`,
		in, w.ID, w.Name, w.Body, w.Version, w.UpdatedAt, optional(w.DeletedAt))
}

// AttachWorkouts replaces, with the transaction, what is attached to a session. Inline workouts that
// fall off go for good: nothing else could ever show them.
func AttachWorkouts(tx *pg.Tx, in tenant.TenantID, id tenant.SessionID, workouts []tenant.WorkoutID) {
	tx.Write(`
with gone as (
  delete from session_workouts where tenant_id = $1 and session_id = $2 returning workout_id)
delete from workouts w using gone
where w.tenant_id = $1 and w.id = gone.workout_id and w.inline and not coalesce(w.id = any($3), false)`, in, id, workouts)
	tx.Write(`
insert into session_workouts (tenant_id, session_id, position, workout_id)
select $1, $2, x.position, x.id from unnest($3::uuid[]) with ordinality as x (id, position)`, in, id, workouts)
	tx.Write(`update sessions set has_workouts = $3 where tenant_id = $1 and id = $2`, in, id, len(workouts) > 0)
}
