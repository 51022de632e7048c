package coredb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/tenant"
)

var imports = pg.NewTable("i", func(i *fileimport.Import) []pg.Column {
	return []pg.Column{
		pg.Key("id", &i.ID),
		pg.Fixed("kind", (*string)(&i.Kind)),
		pg.Col("status", (*string)(&i.Status)),
		pg.Fixed("dry_run", &i.DryRun),
		pg.Fixed("leave_out", &i.LeaveOut),
		pg.Fixed("may_publish", &i.MayPublish),
		pg.Fixed("created_by", &i.Actor),
		pg.Fixed("subject", &i.Subject),
		pg.Fixed("columns", pg.JSON(&i.Columns)),
		pg.Fixed("rows_total", &i.Rows),
		pg.Col("rows_done", &i.Done),
		pg.Col("rows_invalid", &i.Invalid),
		pg.Col("created", &i.Created),
		pg.Col("total", pg.JSON(&i.Total)),
		pg.Col("batch_id", &i.Batch),
		pg.Col("attempts", &i.Attempts),
		pg.Col("due_at", pg.Null(&i.DueAt)),
		pg.Fixed("created_at", &i.CreatedAt),
		pg.Col("ended_at", pg.Null(&i.EndedAt)),
		pg.Col("undo_by", &i.Undo.Actor),
		pg.Col("undo_subject", &i.Undo.Subject),
		pg.Col("undo_problem", pg.JSON(&i.Undo.Problem)),
		pg.Col("undone_at", pg.Null(&i.Undo.At)),
	}
})

var importsWithProblems = pg.NewReader(withProblems)

func withProblems(i *fileimport.Import) []pg.Column {
	return append(imports.Of(i), pg.Read("i.problems", pg.JSON(&i.Problems)), pg.Read("i.notes", pg.JSON(&i.Notes)))
}

// DueImport is an import that is due, with its file.
type DueImport struct {
	fileimport.Import
	File []byte
}

var dueImports = pg.NewReader(func(i *DueImport) []pg.Column {
	return append(withProblems(&i.Import), pg.Read("i.file", &i.File))
})

var (
	findImport = pg.SQL(`select ` + importsWithProblems.Columns() + ` from imports i
where i.tenant_id = $1 and i.id = $2`)
	findDueImport = pg.SQL(`select ` + dueImports.Columns() + ` from imports i
where i.tenant_id = $1 and i.due_at <= $2
order by i.due_at, i.id limit 1`)
	listImports = pg.SQL(`select ` + imports.Columns() + ` from imports i
where i.tenant_id = $1 and ($2::text[] is null or i.kind = any($2)) and ($3::text[] is null or i.status = any($3))
  and ($4::timestamptz is null or i.created_at >= $4) and ($5::timestamptz is null or i.created_at < $5)
  and ($6::uuid is null or i.id < $6)
order by i.id desc limit $7`)
	insertImport = pg.SQL(`insert into imports (` + imports.Names() + `, problems, notes, file)
values (` + imports.Parameters() + `, '[]', '[]', ` + imports.Extra(1) + `)`)
	updateImport = pg.SQL(`update imports set ` + imports.Set() + `, problems = $16, notes = $17,
  left_out = coalesce($18, left_out), created_ids = coalesce($19, created_ids),
  file = case when $10::timestamptz is not null then file end
where tenant_id = $1 and id = $2`)
)

// FindImport reads an import with its problems and notes; nil if there is none.
func FindImport(b *pg.Batch, in tenant.TenantID, id tenant.ImportID, into **fileimport.Import) {
	importsWithProblems.Find(b.Queue(findImport, in, id), into)
}

// FindLeftOut reads the rows that an import left out; nil if there are none, or if it ended before a time.
func FindLeftOut(b *pg.Batch, in tenant.TenantID, id tenant.ImportID, since time.Time, into *[]byte) {
	b.Queue(`select left_out from imports where tenant_id = $1 and id = $2 and ended_at >= $3`, in, id, since).
		ScanAny(into)
}

// FindCreated reads the ids of what an import created.
func FindCreated(b *pg.Batch, in tenant.TenantID, id tenant.ImportID, into *[]tenant.UUID) {
	b.Queue(`select created_ids from imports where tenant_id = $1 and id = $2`, in, id).ScanAny(into)
}

// FindDueImport reads the import that has been due longest, with its file; nil if none is due.
func FindDueImport(b *pg.Batch, in tenant.TenantID, now time.Time, into **DueImport) {
	dueImports.Find(b.Queue(findDueImport, in, now), into)
}

// FindNextImport reads when the next import is due; nil if all have ended.
func FindNextImport(b *pg.Batch, in tenant.TenantID, into **time.Time) {
	b.Queue(`select min(due_at) from imports where tenant_id = $1 and due_at is not null`, in).Scan(into)
}

// CountUnendedImports counts the imports that have not ended.
func CountUnendedImports(b *pg.Batch, in tenant.TenantID, into *int) {
	b.Queue(`select count(*) from imports where tenant_id = $1 and due_at is not null`, in).Scan(into)
}

// ImportQuery selects imports, the newest first.
type ImportQuery struct {
	Kinds       []fileimport.Kind
	Statuses    []fileimport.Status
	From, Until time.Time // of their creation; zero: no limit
	BeforeID    tenant.ImportID
	Limit       int
}

// ListImports reads imports without their problems and notes.
func ListImports(b *pg.Batch, in tenant.TenantID, q ImportQuery, into *[]fileimport.Import) {
	imports.List(b.Queue(listImports, in, q.Kinds, q.Statuses, pg.OrNull(q.From), pg.OrNull(q.Until), q.BeforeID,
		q.Limit), into)
}

// InsertImport inserts an import with its file.
func InsertImport(tx *pg.Tx, in tenant.TenantID, i fileimport.Import, file []byte) {
	tx.Write(insertImport, append(imports.Insert(in, &i), file)...)
}

// UpdateImport writes how far an import is. Its file goes when it has ended. The rows that it left out, and the ids of
// what it created, stay unless there are others.
func UpdateImport(tx *pg.Tx, in tenant.TenantID, i fileimport.Import) {
	if i.Problems == nil {
		i.Problems = []fileimport.Problem{}
	}
	if i.Notes == nil {
		i.Notes = []fileimport.Note{}
	}
	tx.Write(updateImport, append(imports.Update(in, &i), pg.Encode(i.Problems), pg.Encode(i.Notes), i.LeftOut,
		i.CreatedIDs)...)
}

// HasOldImports reads whether an import ended before a time, or still has rows that it left out before another.
func HasOldImports(b *pg.Batch, in tenant.TenantID, until, leftOut time.Time, into *bool) {
	b.Queue(`select exists (select from imports where tenant_id = $1 and ended_at < $2)
or exists (select from imports where tenant_id = $1 and ended_at < $3 and left_out is not null)`, in, until, leftOut).
		Scan(into)
}

// DeleteLeftOut deletes the rows that imports left out that ended before a time.
func DeleteLeftOut(tx *pg.Tx, in tenant.TenantID, until time.Time) {
	tx.Write(`update imports set left_out = null where tenant_id = $1 and ended_at < $2 and left_out is not null`,
		in, until)
}

// DeleteOldImports deletes the imports that ended before a time.
func DeleteOldImports(tx *pg.Tx, in tenant.TenantID, until time.Time) {
	tx.Write(`delete from imports where tenant_id = $1 and ended_at < $2`, in, until)
}
