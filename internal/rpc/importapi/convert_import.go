package importapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/imports"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/fileimport"
)

const (
	kindPrefix   = "IMPORT_KIND_"
	statusPrefix = "IMPORT_STATUS_"
)

// importMessages converts imports, with the names of who started them that the caller may know.
func importMessages(ctx context.Context, all ...fileimport.Import) ([]*v1.Import, error) {
	var actors []string
	for _, one := range all {
		actors = append(actors, one.Actor)
		if one.Undo.Actor != "" {
			actors = append(actors, one.Undo.Actor)
		}
	}
	names, err := request.ActorNames(ctx, actors...)
	if err != nil {
		return nil, err
	}
	return convert.Messages(all, func(i fileimport.Import) *v1.Import {
		m := importMessage(i)
		m.CreatedBy = convert.Actor(i.Actor, names[i.Actor])
		if by := i.Undo.Actor; by != "" {
			m.UndoneBy = convert.Actor(by, names[by])
		}
		return m
	}), nil
}

func importMessage(i fileimport.Import) *v1.Import {
	return &v1.Import{
		Id:     convert.IDText(i.ID),
		Kind:   convert.Enum[v1.ImportKind](v1.ImportKind_value, kindPrefix, i.Kind),
		Status: convert.Enum[v1.ImportStatus](v1.ImportStatus_value, statusPrefix, i.Status),
		DryRun: i.DryRun,

		LeaveOutInvalid: i.LeaveOut,
		LeftOutCsv:      i.LeftOut,
		RowsTotal:       int32(i.Rows),
		RowsDone:        int32(i.Done),
		RowsInvalid:     int32(i.Invalid),
		CreatedCount:    int32(i.Created),
		Problems:        convert.Messages(i.Problems, problemMessage),
		Notes:           convert.Messages(i.Notes, noteMessage),
		BatchId:         convert.IDText(i.Batch),
		CreateTime:      convert.Timestamp(i.CreatedAt),
		EndTime:         convert.Timestamp(i.EndedAt),
		ExpireTime:      convert.Timestamp(i.Expires()),
		Columns:         convert.Messages(i.Columns, columnMessage),
		Total:           totalMessage(i.Total),

		InvitableCount:    int32(i.Invitable),
		WithoutEmailCount: int32(i.WithoutEmail),
		UndoDeadline:      convert.Timestamp(i.UndoDeadline()),
		UndoTime:          convert.Timestamp(i.Undo.At),
		UndoProblem:       undoProblemMessage(i.Undo.Problem),
	}
}

func undoProblemMessage(p *fileimport.Problem) *v1.ImportProblem {
	if p == nil {
		return nil
	}
	return problemMessage(*p)
}

func totalMessage(t *fileimport.Total) *v1.ImportTotal {
	if t == nil {
		return nil
	}
	return &v1.ImportTotal{File: int32(t.File), Ledger: int32(t.Ledger)}
}

// importRequest is a request to import a file.
type importRequest interface {
	GetCsv() []byte
	GetDryRun() bool
	GetLeaveOutInvalid() bool
	GetColumns() []*v1.ImportColumn
}

func requestValue(req importRequest) imports.Request {
	value := imports.Request{File: req.GetCsv(), DryRun: req.GetDryRun(), LeaveOut: req.GetLeaveOutInvalid()}
	for _, m := range req.GetColumns() {
		value.Columns = append(value.Columns, fileimport.Match{Header: m.GetName(), Field: m.GetField()})
	}
	return value
}

func columnMessage(m fileimport.Match) *v1.ImportColumn {
	return &v1.ImportColumn{Name: m.Header, Field: m.Field}
}

func problemMessage(p fileimport.Problem) *v1.ImportProblem {
	return &v1.ImportProblem{
		Row:     int32(p.Row),
		Column:  p.Column,
		Reason:  convert.Enum[v1.ErrorReason](v1.ErrorReason_value, "ERROR_REASON_", p.Reason),
		Message: p.Message,
	}
}

func noteMessage(n fileimport.Note) *v1.ImportNote {
	return &v1.ImportNote{Row: int32(n.Row), Column: n.Column, Message: n.Message}
}

func filterValue(m *v1.ImportFilter) imports.ImportQuery {
	q := imports.ImportQuery{
		From: convert.Time(m.GetCreatedWithin().GetStart()), Until: convert.Time(m.GetCreatedWithin().GetEnd()),
	}
	for _, k := range m.GetKinds() {
		q.Kinds = append(q.Kinds, convert.EnumName[fileimport.Kind](kindPrefix, k))
	}
	for _, s := range m.GetStatuses() {
		q.Statuses = append(q.Statuses, convert.EnumName[fileimport.Status](statusPrefix, s))
	}
	return q
}
