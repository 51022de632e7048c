// Package importapi serves the RPCs about imports of files.
package importapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/imports"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/tenant"
)

// Imports handles the RPCs of the package.
type Imports struct {
	Service *imports.Service
}

// createPublished is the permission to publish sessions as they are created.
const createPublished = "session.create_published"

// ImportSessions handles SessionService.ImportSessions.
func (s *Imports) ImportSessions(
	ctx context.Context, req *v1.ImportSessionsRequest,
) (*v1.ImportSessionsResponse, error) {
	caller := request.Caller(ctx)
	may, err := request.Permitted(ctx, caller, []string{createPublished})
	if err != nil {
		return nil, err
	}
	started, err := s.Service.ImportSessions(ctx, caller, requestValue(req), may[createPublished])
	if err != nil {
		return nil, err
	}
	messages, err := importMessages(ctx, started)
	if err != nil {
		return nil, err
	}
	return &v1.ImportSessionsResponse{FileImport: messages[0]}, nil
}

// ImportMembers handles MemberService.ImportMembers.
func (s *Imports) ImportMembers(
	ctx context.Context, req *v1.ImportMembersRequest,
) (*v1.ImportMembersResponse, error) {
	started, err := s.Service.ImportMembers(ctx, request.Caller(ctx), requestValue(req))
	if err != nil {
		return nil, err
	}
	messages, err := importMessages(ctx, started)
	if err != nil {
		return nil, err
	}
	return &v1.ImportMembersResponse{FileImport: messages[0]}, nil
}

// ImportSubscriptions handles CreditService.ImportSubscriptions.
func (s *Imports) ImportSubscriptions(
	ctx context.Context, req *v1.ImportSubscriptionsRequest,
) (*v1.ImportSubscriptionsResponse, error) {
	started, err := s.Service.ImportSubscriptions(ctx, request.Caller(ctx), requestValue(req))
	if err != nil {
		return nil, err
	}
	messages, err := importMessages(ctx, started)
	if err != nil {
		return nil, err
	}
	return &v1.ImportSubscriptionsResponse{FileImport: messages[0]}, nil
}

// ImportBookings handles BookingService.ImportBookings.
func (s *Imports) ImportBookings(
	ctx context.Context, req *v1.ImportBookingsRequest,
) (*v1.ImportBookingsResponse, error) {
	started, err := s.Service.ImportBookings(ctx, request.Caller(ctx), requestValue(req))
	if err != nil {
		return nil, err
	}
	messages, err := importMessages(ctx, started)
	if err != nil {
		return nil, err
	}
	return &v1.ImportBookingsResponse{FileImport: messages[0]}, nil
}

// GetImport handles ImportService.GetImport.
func (s *Imports) GetImport(ctx context.Context, req *v1.GetImportRequest) (*v1.GetImportResponse, error) {
	found, err := s.Service.GetImport(ctx, request.Caller(ctx), convert.ID[tenant.ImportID](req.GetImportId()),
		req.GetWithLeftOutCsv())
	if err != nil {
		return nil, err
	}
	messages, err := importMessages(ctx, found)
	if err != nil {
		return nil, err
	}
	return &v1.GetImportResponse{FileImport: messages[0]}, nil
}

// ListImports handles ImportService.ListImports.
func (s *Imports) ListImports(ctx context.Context, req *v1.ListImportsRequest) (*v1.ListImportsResponse, error) {
	page, err := convert.ParsePage[tenant.ImportID](req)
	if err != nil {
		return nil, err
	}
	q := filterValue(req.GetFilter())
	if q.Limit = page.Limit(); page.After != nil {
		q.BeforeID = *page.After
	}
	found, err := s.Service.ListImports(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	found, next := convert.Paginate(page, found, func(i fileimport.Import) tenant.ImportID { return i.ID })
	messages, err := importMessages(ctx, found...)
	return &v1.ListImportsResponse{Imports: messages, NextPageToken: next}, err
}

// permissions are those to import files, by their kind: who undoes an import needs the same.
var permissions = map[fileimport.Kind]string{
	fileimport.Sessions: "session.import", fileimport.Members: "member.import",
	fileimport.Subscriptions: "subscription.import", fileimport.Bookings: "booking.import",
}

// UndoImport handles ImportService.UndoImport.
func (s *Imports) UndoImport(ctx context.Context, req *v1.UndoImportRequest) (*v1.UndoImportResponse, error) {
	caller, id := request.Caller(ctx), convert.ID[tenant.ImportID](req.GetImportId())
	found, err := s.Service.GetImport(ctx, caller, id, false)
	if err != nil {
		return nil, err
	}
	needed := permissions[found.Kind]
	may, err := request.Permitted(ctx, caller, []string{needed})
	if err != nil {
		return nil, err
	}
	if !may[needed] {
		return nil, fault.MissingPermission(needed)
	}
	undone, err := s.Service.UndoImport(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	messages, err := importMessages(ctx, undone)
	if err != nil {
		return nil, err
	}
	return &v1.UndoImportResponse{FileImport: messages[0]}, nil
}
