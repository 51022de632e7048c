package rpc

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

func TestListAuditEntries_RejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	s.location(t, &v1.LocationInput{Name: "Pier 1"})
	page := ask[*v1.ListAuditEntriesResponse](t, s, s.owner, &v1.ListAuditEntriesRequest{PageSize: 1})
	for name, q := range map[string]*v1.ListAuditEntriesRequest{
		"another query's token": {
			Filter: &v1.AuditEntryFilter{TargetKind: "location"}, PageToken: page.GetNextPageToken(),
		},
		"no token":  {PageToken: "1"},
		"huge page": {PageSize: 501},
		"NUL":       {Filter: &v1.AuditEntryFilter{TargetId: "\x00"}},
		"no action": {Filter: &v1.AuditEntryFilter{Action: "Session.Cancelled"}},
		"backwards": {Filter: &v1.AuditEntryFilter{OccurredWithin: &v1.TimeRange{
			Start: timestamppb.New(time.Unix(9, 0)), End: timestamppb.New(time.Unix(8, 0)),
		}}},
	} {
		refused(t, "invalid_argument INVALID_FIELD", test.Sprint(name))(s.call(t, s.owner, q))
	}
}
