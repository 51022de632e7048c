package rpc

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// monday is the time at which these tests run: 13:00 in Berlin.
var monday = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

// studio is a test server with a client of its SessionService, a location, a service and a room.
type studio struct {
	*testServer
	berthv1connect.SessionServiceClient
	location, service, room string
}

func newStudio(t *testing.T) *studio {
	t.Helper()
	server := newTestServer(t, func(c *app.Config) { c.Now = func() time.Time { return monday } })
	s := &studio{
		testServer: server, SessionServiceClient: berthv1connect.NewSessionServiceClient(server.Client, server.URL),
	}
	office := tenantTestOf(t, server)
	s.location = office.location(t, &v1.LocationInput{Name: "Pier 1", TimeZone: "Europe/Berlin"}).GetId()
	s.service = office.service(
		t,
		&v1.ServiceInput{
			Name: "Vinyasa", Duration: durationpb.New(time.Hour), DefaultCapacity: proto.Int32(10), DefaultWaitlistCapacity: 2,
		},
	).GetId()
	s.room = ask[*v1.CreateResourceResponse](
		t, s, office.owner, &v1.CreateResourceRequest{LocationId: s.location, Resource: &v1.ResourceInput{Name: "Studio"}},
	).GetResource().GetId()
	return s
}

func (s *studio) input(starts time.Time) *v1.SessionInput {
	return &v1.SessionInput{ServiceId: s.service, LocationId: s.location, StartTime: timestamppb.New(starts)}
}

func (s *studio) create(t *testing.T, in *v1.SessionInput) *v1.Session {
	t.Helper()
	return expect.Value(s.CreateSession(
		t.Context(), as(s.Token(t, "owner"), &v1.CreateSessionRequest{Session: in, Publish: true}),
	))(t).Msg.GetSession()
}

func weekFilter() *v1.SessionFilter {
	return &v1.SessionFilter{
		StartsWithin: &v1.TimeRange{Start: timestamppb.New(monday), End: timestamppb.New(monday.AddDate(0, 0, 7))},
	}
}

// Each path of the mask changes only its field, and sets it to its default if the request does not set it.
func TestUpdateSession_AppliesMask(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	starts := monday.Add(time.Hour)
	full := s.input(starts)
	full.ResourceId, full.CoachId = s.room, convert.IDText(s.Members["coach"])
	full.Title, full.Description = "Flow", "Bring a mat."
	full.EndTime, full.Capacity, full.WaitlistCapacity = timestamppb.New(
		starts.Add(2*time.Hour),
	), proto.Int32(4), proto.Int32(1)
	sent := &v1.SessionInput{
		ServiceId: s.service, LocationId: s.location, Title: "Slow", Description: "No mat.",
		StartTime: timestamppb.New(starts.Add(time.Hour)),
		EndTime:   timestamppb.New(starts.Add(4 * time.Hour)), Capacity: proto.Int32(7), WaitlistCapacity: proto.Int32(0),
	}
	later := func(by time.Duration) *timestamppb.Timestamp { return timestamppb.New(starts.Add(by)) }
	seats := func(n int32) *v1.Session { return &v1.Session{Capacity: &n, SeatsOpen: &n} }
	for path, tt := range map[string]struct {
		changed        string      // the fields of the session
		given, cleared *v1.Session // what they are then; nil: not tested
	}{
		"service_id":  {"", &v1.Session{}, nil},
		"location_id": {"", &v1.Session{}, nil},
		"resource_id": {"resource_id", nil, &v1.Session{}},
		"coach_id":    {"coach_id coach_name", nil, &v1.Session{}},
		"title":       {"title", &v1.Session{Title: "Slow"}, &v1.Session{Title: "Vinyasa"}},
		"description": {"description", &v1.Session{Description: "No mat."}, &v1.Session{}},
		"start_time": {
			"start_time end_time", &v1.Session{StartTime: later(time.Hour), EndTime: later(3 * time.Hour)}, nil,
		},
		"end_time":          {"end_time", &v1.Session{EndTime: later(4 * time.Hour)}, &v1.Session{EndTime: later(time.Hour)}},
		"capacity":          {"capacity seats_open", seats(7), seats(10)},
		"unlimited":         {"capacity seats_open", seats(7), seats(10)},
		"waitlist_capacity": {"waitlist_capacity", &v1.Session{}, &v1.Session{WaitlistCapacity: 2}},
	} {
		for input, after := range map[*v1.SessionInput]*v1.Session{sent: tt.given, {}: tt.cleared} {
			if after == nil {
				continue
			}
			before := s.create(t, full)
			response := expect.Value(s.UpdateSession(t.Context(), as(s.Token(t, "coach"), &v1.UpdateSessionRequest{
				SessionId: before.GetId(), Session: input, UpdateMask: mask(path), Etag: before.GetEtag(),
			})))(t)
			want := proto.CloneOf(before)
			if setFields(want, after, strings.Fields(tt.changed)...); !proto.Equal(want, before) {
				want.Etag = "v2"
			}
			test.Eq(t, want, response.Msg.GetSession(), test.Cmp(protocmp.Transform()), test.Sprintf("%s of %v", path, input))
			expect.OK(t)(s.CancelSession( // frees the room for the next test
				t.Context(), as(s.Token(t, "owner"), &v1.CancelSessionRequest{SessionId: before.GetId()}),
			))
		}
	}
}

func TestScheduleRPCs_RejectInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	one := s.create(t, s.input(monday.Add(time.Hour)))
	owner := s.Token(t, "owner")
	create := func(changes *v1.SessionInput) proto.Message {
		return &v1.CreateSessionRequest{Session: with(s.input(monday.Add(time.Hour)), changes)}
	}
	update := func(changes *v1.UpdateSessionRequest) proto.Message {
		return with(&v1.UpdateSessionRequest{SessionId: one.GetId(), Session: &v1.SessionInput{}}, changes)
	}
	series := func(changes *v1.UpdateSeriesRequest) proto.Message {
		return with(&v1.UpdateSeriesRequest{SeriesId: someSession, Series: &v1.SeriesInput{}}, changes)
	}
	for name, tt := range map[string]struct {
		request proto.Message
		want    string
	}{
		"no start": {&v1.CreateSessionRequest{
			Session: &v1.SessionInput{ServiceId: s.service, LocationId: s.location},
		}, "INVALID_FIELD session"},
		"a title beyond its bounds": {
			create(&v1.SessionInput{Title: strings.Repeat("x", 201)}), "INVALID_FIELD session.title",
		},
		"a description beyond": {
			create(&v1.SessionInput{Description: strings.Repeat("x", 4001)}), "INVALID_FIELD session.description",
		},
		"capacity and unlimited": {
			create(&v1.SessionInput{Capacity: proto.Int32(1), Unlimited: true}), "INVALID_FIELD session",
		},
		"a capacity below zero": {
			create(&v1.SessionInput{Capacity: proto.Int32(-1)}), "INVALID_FIELD session.capacity",
		},
		"the end before the start": {
			create(&v1.SessionInput{EndTime: timestamppb.New(monday)}), "INVALID_FIELD session.end_time",
		},
		"a member who leads": {
			create(&v1.SessionInput{CoachId: convert.IDText(s.Members["member"])}), "COACH_INVALID session.coach_id",
		},
		"no mask": {
			update(&v1.UpdateSessionRequest{}), "INVALID_FIELD update_mask",
		},
		"a mask with other names": {
			update(&v1.UpdateSessionRequest{UpdateMask: mask("seats_taken")}), "INVALID_FIELD update_mask",
		},
		"a service cleared": {
			update(&v1.UpdateSessionRequest{UpdateMask: mask("service_id")}), "INVALID_FIELD session.service_id",
		},
		"an etag of another time": {
			update(&v1.UpdateSessionRequest{UpdateMask: mask("title"), Etag: "v9"}),
			"ETAG_MISMATCH etag",
		},
		"an etag that never was one": {
			update(&v1.UpdateSessionRequest{UpdateMask: mask("title"), Etag: "9"}), "ETAG_MISMATCH",
		},
		"no scope": {series(&v1.UpdateSeriesRequest{UpdateMask: mask("title")}), "INVALID_FIELD scope"},
		"one session, but which": {
			series(&v1.UpdateSeriesRequest{Scope: v1.SeriesEditScope_SERIES_EDIT_SCOPE_ONE, UpdateMask: mask("title")}),
			"INVALID_FIELD session_id",
		},
		"times of the template": {
			series(&v1.UpdateSeriesRequest{Scope: v1.SeriesEditScope_SERIES_EDIT_SCOPE_ALL, UpdateMask: mask("start_time")}),
			"INVALID_FIELD update_mask",
		},
		"a time of day, but which": {
			series(&v1.UpdateSeriesRequest{
				Scope: v1.SeriesEditScope_SERIES_EDIT_SCOPE_ALL, UpdateMask: mask("start_time_of_day"),
			}),
			"INVALID_FIELD start_time_of_day",
		},
		"seconds": {
			series(&v1.UpdateSeriesRequest{
				Scope: v1.SeriesEditScope_SERIES_EDIT_SCOPE_ALL, UpdateMask: mask("title"),
				Series: &v1.SeriesInput{StartTimeOfDay: &timeofday.TimeOfDay{Seconds: 1}},
			}),
			"INVALID_FIELD series.start_time_of_day",
		},
		"no such series": {
			series(&v1.UpdateSeriesRequest{Scope: v1.SeriesEditScope_SERIES_EDIT_SCOPE_ALL, UpdateMask: mask("title")}),
			"SERIES_NOT_FOUND",
		},
		"a bulk operation on everything": {
			&v1.BulkDeleteSessionsRequest{Filter: &v1.SessionFilter{ServiceIds: []string{s.service}}}, "INVALID_FIELD filter",
		},
		"a bulk operation with a bell in its reason": {
			&v1.BulkDeleteSessionsRequest{Filter: weekFilter(), Reason: "\a"}, "INVALID_FIELD reason",
		},
		"a workout twice": {
			&v1.SetWorkoutsRequest{SessionId: one.GetId(), WorkoutIds: []string{someSession, someSession}},
			"INVALID_FIELD workout_ids",
		},
		"a file that is none": {&v1.ImportSessionsRequest{Csv: []byte("PK\x03\x04")}, "IMPORT_INVALID csv"},
	} {
		refused(t, tt.want, test.Sprint(name))(s.call(t, owner, tt.request))
	}
}
