package main

import (
	"time"

	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Requests about the catalog and the schedule.
var scheduleRequests = map[string][]build{
	"SessionService/CreateSession": {func(w *world) proto.Message {
		return &v1.CreateSessionRequest{Session: w.sessionInput(), Publish: true}
	}},
	"SessionService/UpdateSession": {func(w *world) proto.Message {
		return &v1.UpdateSessionRequest{
			SessionId: text(w.newSession()), Session: w.sessionInput(),
			UpdateMask: paths(
				"service_id", "location_id", "resource_id", "coach_id", "title", "description", "start_time", "end_time",
				"capacity", "waitlist_capacity",
			),
		}
	}},
	"SessionService/GetSession": {
		func(w *world) proto.Message { return &v1.GetSessionRequest{SessionId: text(w.newSession())} },
	},
	"SessionService/ListSessions": {func(
		w *world,
	) proto.Message {
		return &v1.ListSessionsRequest{Filter: w.filter(true)}
	}, func(w *world) proto.Message {
		return &v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: w.month()}, PageSize: 1}
	}},
	"SessionService/PublishSession": {func(w *world) proto.Message {
		return &v1.PublishSessionRequest{SessionId: text(w.newDraft())}
	}},
	"SessionService/UnpublishSession": {func(w *world) proto.Message {
		return &v1.UnpublishSessionRequest{SessionId: text(w.newSession())}
	}},
	"SessionService/CancelSession": {func(w *world) proto.Message {
		in := w.newSession()
		w.book(w.app, w.other, in)
		return &v1.CancelSessionRequest{SessionId: text(in), Reason: unique(), Notify: new(true)}
	}},
	"SessionService/BlockSession": {func(w *world) proto.Message {
		return &v1.BlockSessionRequest{SessionId: text(w.newSession()), Reason: unique()}
	}},
	"SessionService/UnblockSession": {func(w *world) proto.Message {
		in := w.newSession()
		expect.OK(w.t)(w.app.Schedules.BlockSession(w.ctx(), w.owner, in, ""))
		return &v1.UnblockSessionRequest{SessionId: text(in)}
	}},
	"SessionService/CreateSeries": {func(w *world) proto.Message {
		at := w.newSlot()
		in := w.seriesInput()
		in.Rule, in.StartDate = "FREQ=DAILY;COUNT=2", civilMessage(at)
		in.StartTimeOfDay = timeOfDay(int32(at.Hour()), int32(at.Minute()))
		in.ExcludedDates = []*date.Date{civilMessage(at.AddDate(0, 0, 1))}
		return &v1.CreateSeriesRequest{Series: in, Publish: true}
	}},
	"SessionService/UpdateSeries": {func(w *world) proto.Message {
		series, first := w.newSeries(true)
		in := w.seriesInput()
		in.Rule, in.StartTimeOfDay = "FREQ=DAILY;COUNT=3", timeOfDay(int32(series.Time.Hour), int32(series.Time.Minute))
		in.ExcludedDates = []*date.Date{civilMessage(w.now)}
		return &v1.UpdateSeriesRequest{
			SeriesId: text(series.ID), SessionId: text(first), Scope: v1.SeriesEditScope_SERIES_EDIT_SCOPE_FOLLOWING,
			Series: in,
			UpdateMask: paths("service_id", "location_id", "resource_id", "coach_id", "title", "description", "capacity",
				"waitlist_capacity",
				"rule", "start_time_of_day", "duration", "excluded_dates"),
		}
	}},
	"SessionService/GetSeries": {func(w *world) proto.Message {
		series, _ := w.newSeries(true)
		return &v1.GetSeriesRequest{SeriesId: text(series.ID)}
	}},
	"SessionService/ListSeries": {func(w *world) proto.Message {
		series, _ := w.newSeries(true)
		return &v1.ListSeriesRequest{Filter: &v1.SeriesFilter{
			LocationIds: []string{text(w.location)}, ServiceIds: []string{text(w.service)},
			ResourceIds: []string{text(series.Resource)}, CoachIds: []string{text(series.Coach)},
			Statuses: []v1.SeriesStatus{v1.SeriesStatus_SERIES_STATUS_ACTIVE},
		}}
	}, func(w *world) proto.Message {
		w.newSeries(true)
		w.newSeries(true)
		return &v1.ListSeriesRequest{PageSize: 1}
	}},
	"SessionService/EndSeries": {func(w *world) proto.Message {
		series, first := w.newSeries(true)
		w.book(w.app, w.other, first)
		return &v1.EndSeriesRequest{
			SeriesId: text(series.ID), EndDate: civilMessage(series.Date.On(time.UTC)), Reason: unique(), Notify: new(false),
			Etag: "v1",
		}
	}},
	"SessionService/DeleteSession": {func(w *world) proto.Message {
		return &v1.DeleteSessionRequest{SessionId: text(w.newSession()), Reason: unique(), Etag: "v1"}
	}},
	"SessionService/FindSubstitutes": {func(w *world) proto.Message {
		led := w.filter(false)
		return &v1.FindSubstitutesRequest{CoachId: led.GetCoachIds()[0], StartsWithin: led.GetStartsWithin()}
	}},
	"SessionService/PreviewBulkSessions": {func(w *world) proto.Message {
		return &v1.PreviewBulkSessionsRequest{
			Filter: w.filter(true), Action: v1.BulkSessionAction_BULK_SESSION_ACTION_DELETE, IncludeBooked: true,
		}
	}},
	"SessionService/BulkPublishSessions": {
		func(w *world) proto.Message { return &v1.BulkPublishSessionsRequest{Filter: w.filter(false)} },
	},
	"SessionService/BulkDeleteSessions": {func(w *world) proto.Message {
		return &v1.BulkDeleteSessionsRequest{
			Filter:        w.filter(true),
			IncludeBooked: true,
			Reason:        unique(),
			Notify:        new(false),
		}
	}},
	"SessionService/BulkCancelSessions": {func(w *world) proto.Message {
		return &v1.BulkCancelSessionsRequest{
			Filter:        w.filter(true),
			IncludeBooked: true,
			Reason:        unique(),
			Notify:        new(false),
		}
	}},
	"SessionService/ImportSessions": {func(w *world) proto.Message {
		service := expect.Value(w.app.Catalog.GetService(w.ctx(), w.owner, w.service))(w.t)
		location := expect.Value(w.app.Catalog.GetLocation(w.ctx(), w.owner, w.location))(w.t)
		return &v1.ImportSessionsRequest{Csv: []byte("service,location,date,start,duration_minutes\n" +
			service.Name + "," + location.Name + "," + w.now.AddDate(0, 0, 3).Format(time.DateOnly) + ",10:00,30\n")}
	}},
	"ImportService/GetImport": {func(w *world) proto.Message {
		return &v1.GetImportRequest{ImportId: text(w.newImport())}
	}},
	"ImportService/UndoImport": {func(w *world) proto.Message {
		return &v1.UndoImportRequest{ImportId: text(w.importMembers())}
	}},
	"ImportService/ListImports": {func(w *world) proto.Message {
		w.newImport()
		return &v1.ListImportsRequest{Filter: &v1.ImportFilter{
			Kinds: []v1.ImportKind{v1.ImportKind_IMPORT_KIND_SESSIONS}, CreatedWithin: w.month(),
		}}
	}, func(w *world) proto.Message {
		w.newImport()
		w.newImport()
		return &v1.ListImportsRequest{PageSize: 1}
	}},
	"WorkoutService/SetWorkouts": {func(w *world) proto.Message {
		return &v1.SetWorkoutsRequest{SessionId: text(w.newSession()), WorkoutIds: []string{text(w.newWorkout())}, Etag: "v1"}
	}},
	"WorkoutService/AddInlineWorkout": {func(w *world) proto.Message {
		return &v1.AddInlineWorkoutRequest{SessionId: text(w.newSession()), Workout: workoutInput()}
	}},
	"WorkoutService/CreateWorkout": {
		func(*world) proto.Message { return &v1.CreateWorkoutRequest{Workout: workoutInput()} },
	},
	"WorkoutService/UpdateWorkout": {func(w *world) proto.Message {
		return &v1.UpdateWorkoutRequest{
			WorkoutId: text(w.newWorkout()), Workout: workoutInput(), UpdateMask: paths("name", "body"), Etag: "v1",
		}
	}},
	"WorkoutService/DeleteWorkout": {func(w *world) proto.Message {
		return &v1.DeleteWorkoutRequest{WorkoutId: text(w.newWorkout()), Etag: "v1"}
	}},
	"WorkoutService/GetWorkout": {
		func(w *world) proto.Message { return &v1.GetWorkoutRequest{WorkoutId: text(w.newWorkout())} },
	},
	"WorkoutService/ListWorkouts": {
		func(w *world) proto.Message {
			in := w.newSession()
			expect.OK(w.t)(w.app.Schedules.AddInlineWorkout(w.ctx(), w.owner, in, unique(), unique()))
			return &v1.ListWorkoutsRequest{Filter: &v1.WorkoutFilter{SessionId: text(in)}}
		},
		func(w *world) proto.Message {
			w.newWorkout()
			return &v1.ListWorkoutsRequest{PageSize: 1}
		},
	},

	"TenantService/GetTenant": {always(&v1.GetTenantRequest{})},
	"TenantService/UpdateTenant": {func(*world) proto.Message {
		return &v1.UpdateTenantRequest{
			Tenant: &v1.TenantInput{
				Name: unique(), TimeZone: "Europe/Paris", Locale: "fr", Currency: "CHF",
				Brand: &v1.Brand{LogoUrl: "https://cdn.example.com/logo.svg", AccentColor: "#2f5d3a"},
			},
			UpdateMask: paths("name", "time_zone", "locale", "currency", "takes_payments", "audit_member_reads", "brand"),
		}
	}},
	"CatalogService/CreateLocation": {func(*world) proto.Message {
		return &v1.CreateLocationRequest{Location: locationInput()}
	}},
	"CatalogService/UpdateLocation": {func(w *world) proto.Message {
		return &v1.UpdateLocationRequest{
			LocationId: text(w.newLocation()), Location: locationInput(), Etag: "v1",
			UpdateMask: paths("name", "time_zone", "geo", "address", "channels", "active"),
		}
	}},
	"CatalogService/GetLocation": {
		func(w *world) proto.Message { return &v1.GetLocationRequest{LocationId: text(w.location)} },
	},
	"CatalogService/ListLocations": {func(w *world) proto.Message {
		w.newLocation()
		return &v1.ListLocationsRequest{Filter: &v1.LocationFilter{Statuses: everyStatus()}, PageSize: 1}
	}},
	"CatalogService/CreateResource": {func(w *world) proto.Message {
		return &v1.CreateResourceRequest{LocationId: text(w.location), Resource: resourceInput()}
	}},
	"CatalogService/UpdateResource": {func(w *world) proto.Message {
		return &v1.UpdateResourceRequest{
			ResourceId: text(w.newRoom()), Resource: resourceInput(), UpdateMask: paths("name", "kind", "active"), Etag: "v1",
		}
	}},
	"CatalogService/GetResource": {
		func(w *world) proto.Message { return &v1.GetResourceRequest{ResourceId: text(w.newRoom())} },
	},
	"CatalogService/ListResources": {
		func(w *world) proto.Message {
			return &v1.ListResourcesRequest{
				Filter: &v1.ResourceFilter{LocationId: text(w.location), Statuses: everyStatus()},
			}
		},
		func(w *world) proto.Message {
			w.newRoom()
			w.newRoom()
			return &v1.ListResourcesRequest{PageSize: 1}
		},
	},
	"CatalogService/CreateService": {func(*world) proto.Message {
		return &v1.CreateServiceRequest{Service: serviceInput()}
	}},
	"CatalogService/UpdateService": {func(w *world) proto.Message {
		return &v1.UpdateServiceRequest{
			ServiceId: text(w.newService()), Service: serviceInput(), Etag: "v1",
			UpdateMask: paths("name", "description", "category", "duration", "default_capacity", "default_waitlist_capacity",
				"min_party", "max_party", "delivery", "color", "active"),
		}
	}},
	"CatalogService/GetService": {
		func(w *world) proto.Message { return &v1.GetServiceRequest{ServiceId: text(w.service)} },
	},
	"CatalogService/ListServices": {
		func(w *world) proto.Message {
			in := serviceInput()
			call[*v1.CreateServiceResponse](
				w.t, w.live, w.token(tenant.RoleOwner), "CatalogService/CreateService", &v1.CreateServiceRequest{Service: in},
			)
			return &v1.ListServicesRequest{Filter: &v1.ServiceFilter{Category: in.Category, Statuses: everyStatus()}}
		},
		func(w *world) proto.Message {
			w.newService()
			return &v1.ListServicesRequest{PageSize: 1}
		},
	},
	"CatalogService/GetPolicy": {func(w *world) proto.Message {
		return &v1.GetPolicyRequest{LocationId: text(w.location), ServiceId: text(w.service)}
	}},
	"CatalogService/UpdatePolicy": {
		func(w *world) proto.Message {
			return policyRequest(v1.SettingLevel_SETTING_LEVEL_LOCATION, text(w.newLocation()))
		},
		func(w *world) proto.Message {
			return policyRequest(v1.SettingLevel_SETTING_LEVEL_SERVICE, text(w.newService()))
		},
	},
}

// sessionInput has its own slot, room and coach.
func (w *world) sessionInput() *v1.SessionInput {
	at := w.newSlot()
	return &v1.SessionInput{
		ServiceId: text(w.service), LocationId: text(w.location), ResourceId: text(w.newRoom()), CoachId: text(w.newCoach()),
		Title: unique(), Description: unique(),
		StartTime: timestamppb.New(at), EndTime: timestamppb.New(at.Add(slotLength)), Capacity: proto.Int32(8),
		WaitlistCapacity: proto.Int32(2),
	}
}

func workoutInput() *v1.WorkoutInput { return &v1.WorkoutInput{Name: unique(), Body: unique()} }

// seriesInput has its own room and coach, and no times.
func (w *world) seriesInput() *v1.SeriesInput {
	return &v1.SeriesInput{
		ServiceId: text(w.service), LocationId: text(w.location), ResourceId: text(w.newRoom()), CoachId: text(w.newCoach()),
		Title: unique(), Description: unique(), Capacity: proto.Int32(8), WaitlistCapacity: proto.Int32(2),
		Duration: durationpb.New(slotLength),
	}
}

// filter selects one session of a series, and sets every field of the filter.
func (w *world) filter(published bool) *v1.SessionFilter {
	series, first := w.newSeries(published)
	state := v1.SessionStatus_SESSION_STATUS_DRAFT
	if published {
		state = v1.SessionStatus_SESSION_STATUS_PUBLISHED
	}
	return &v1.SessionFilter{
		StartsWithin: w.month(), LocationIds: []string{text(w.location)}, ServiceIds: []string{text(w.service)},
		ResourceIds: []string{text(series.Resource)},
		CoachIds:    []string{text(series.Coach)}, Statuses: []v1.SessionStatus{state}, SeriesId: text(series.ID),
		SessionIds: []string{text(first)},
	}
}

func memberWithoutSubject() member.Member {
	return member.Member{Name: unique(), Email: unique() + "@example.com"}
}

func memberInput() *v1.MemberInput {
	return &v1.MemberInput{
		Subject: unique(), Name: unique(), Email: unique() + "@example.com", Phone: "+4915112345678",
		Tier: unique(), Tags: []string{unique()},
		Locale: "de", TimeZone: "Europe/Berlin", Notes: unique(),
	}
}

func resourceInput() *v1.ResourceInput {
	return &v1.ResourceInput{Name: unique(), Kind: unique(), Active: new(true)}
}

func locationInput() *v1.LocationInput {
	return &v1.LocationInput{
		Name: unique(), TimeZone: "Europe/Berlin", Geo: &latlng.LatLng{Latitude: 52.5, Longitude: 13.4},
		Address:  unique(),
		Channels: []v1.BookingChannel{v1.BookingChannel_BOOKING_CHANNEL_ONLINE}, Active: new(true),
	}
}

func serviceInput() *v1.ServiceInput {
	return &v1.ServiceInput{
		Name:                    unique(),
		Description:             unique(),
		Category:                unique(),
		Duration:                durationpb.New(time.Hour),
		DefaultCapacity:         proto.Int32(10),
		DefaultWaitlistCapacity: 5,
		MinParty:                1,
		MaxParty:                3,
		Delivery:                v1.DeliveryMode_DELIVERY_MODE_IN_PERSON,
		Color:                   "#aabbcc",
		Active:                  new(true),
	}
}

func policyRequest(level v1.SettingLevel, target string) *v1.UpdatePolicyRequest {
	hour := durationpb.New(time.Hour)
	policy := &v1.Policy{
		AdvanceWindow: durationpb.New(60 * 24 * time.Hour), BookingClosesBefore: hour, CancellationWindow: hour,
		AllowLateCancellation: new(true),
		AllowReschedule:       new(true), HoldTtl: hour, CheckInOpensBefore: hour, CheckInClosesAfterEnd: hour,
		GpsMaxMeters: proto.Int32(100),
		AutoNoShow:   new(true), AutoNoShowAfter: hour, AutoNoShowAfterStart: hour,
		TierCancellations: &v1.TierCancellations{
			Overrides: []*v1.TierCancellation{{Tier: unique(), CancellationWindow: hour, AllowReschedule: new(true)}},
		},
	}
	return &v1.UpdatePolicyRequest{
		Level:    level,
		TargetId: target,
		Policy:   policy,
		UpdateMask: paths("advance_window", "booking_closes_before",
			"cancellation_window", "allow_late_cancellation",
			"allow_reschedule", "tier_cancellations", "hold_ttl", "check_in_opens_before", "check_in_closes_after_end",
			"gps_max_meters",
			"auto_no_show", "auto_no_show_after", "check_in_requires_qr", "auto_no_show_after_start"),
	}
}
