package rpc

import (
	"testing"

	"github.com/shoenig/test"
	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

func dateMessage(year, month, day int32) *date.Date {
	return &date.Date{Year: year, Month: month, Day: day}
}

func marchFilter(from, to int32) *v1.AnalyticsFilter {
	return &v1.AnalyticsFilter{StartDate: dateMessage(2026, 3, from), EndDate: dateMessage(2026, 3, to)}
}

func TestAnalytics_RejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	for name, filter := range map[string]*v1.AnalyticsFilter{
		"none":             nil,
		"no dates":         {},
		"no such day":      {StartDate: dateMessage(2026, 2, 29), EndDate: dateMessage(2026, 3, 1)},
		"no end":           {StartDate: dateMessage(2026, 2, 28)},
		"month alone":      {StartDate: dateMessage(2026, 2, 0), EndDate: dateMessage(2026, 3, 1)},
		"backwards":        marchFilter(2, 1),
		"more than a year": {StartDate: dateMessage(2026, 1, 1), EndDate: dateMessage(2027, 1, 2)},
		"no id": {
			StartDate: dateMessage(2026, 1, 1), EndDate: dateMessage(2026, 1, 1), LocationIds: []string{"Pier 1"},
		},
		"id twice": {
			StartDate: dateMessage(2026, 1, 1), EndDate: dateMessage(2026, 1, 1), ServiceIds: []string{someSession, someSession},
		},
	} {
		for _, request := range []proto.Message{
			&v1.GetAttendanceSummaryRequest{Filter: filter}, &v1.ListAttendanceDailyRequest{Filter: filter},
			&v1.GetBookingTrendRequest{Filter: filter}, &v1.GetUtilizationRequest{Filter: filter},
		} {
			refused(t, "invalid_argument INVALID_FIELD", test.Sprintf("%T, %s", request, name))(s.call(t, s.owner, request))
		}
	}
}
