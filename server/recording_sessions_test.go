package main

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Single sessions, bulk changes, imports and workouts.
func recordSessions(s *studio) {
	recordSessionEdits(s)
	recordSessionStates(s)
	recordSessionLists(s)
	recordBulk(s)
	recordImports(s)
	recordWorkouts(s)
}

func recordSessionEdits(s *studio) {
	in := func(day int, clock string) *v1.SessionInput {
		return &v1.SessionInput{ServiceId: s.yoga, LocationId: s.center, StartTime: timestamppb.New(on(day, clock))}
	}
	create := func(change func(*v1.SessionInput)) *v1.CreateSessionRequest {
		input := in(7, "18:00")
		input.ResourceId, input.CoachId = s.room, s.cora.id
		change(input)
		return &v1.CreateSessionRequest{Session: input}
	}
	first := recordResponse[*v1.CreateSessionResponse](s.recording, s.cora, "The coach drafts a session",
		create(func(in *v1.SessionInput) {
			in.Title, in.Description = "Slow flow", "Bring a towel."
			in.EndTime, in.WaitlistCapacity = timestamppb.New(on(7, "19:30")), new(int32(1))
		})).GetSession()
	s.names.set(first.GetId(), "slow-flow")
	for _, tt := range []struct {
		title, reason string
		change        func(*v1.SessionInput)
	}{
		{"The coach uses the room twice", "RESOURCE_BUSY", func(in *v1.SessionInput) { in.CoachId = "" }},
		{"The coach is in two sessions", "STAFF_BUSY", func(in *v1.SessionInput) { in.ResourceId = s.annex }},
		{"The coach uses no service", "SERVICE_NOT_FOUND", func(in *v1.SessionInput) { in.ServiceId = absentID }},
		{"The coach uses no location", "LOCATION_NOT_FOUND", func(in *v1.SessionInput) { in.LocationId = absentID }},
		{"The coach uses no room", "RESOURCE_NOT_FOUND", func(in *v1.SessionInput) { in.ResourceId = absentID }},
		{
			"The coach uses another location's room", "RESOURCE_NOT_FOUND", func(in *v1.SessionInput) { in.LocationId = s.park },
		},
		{"The coach lets Mia lead", "COACH_INVALID", func(in *v1.SessionInput) { in.CoachId, in.ResourceId = s.mia.id, "" }},
		{"The coach gives no start", "INVALID_FIELD", func(in *v1.SessionInput) { in.StartTime = nil }},
		{
			"The coach ends it before the start", "INVALID_FIELD",
			func(in *v1.SessionInput) { in.EndTime = timestamppb.New(on(7, "17:00")) },
		},
	} {
		s.recordError(s.cora, tt.title, tt.reason, create(tt.change))
	}
	s.recordError(s.mia, "Mia creates a session", "PERMISSION_DENIED", create(func(*v1.SessionInput) {}))
	second := recordResponse[*v1.CreateSessionResponse](s.recording, s.olga, "The owner publishes an unlimited session",
		&v1.CreateSessionRequest{
			Publish: true, Session: &v1.SessionInput{
				ServiceId: s.yoga, LocationId: s.park, StartTime: timestamppb.New(on(8, "10:00")), Unlimited: true,
			},
		}).GetSession()
	s.names.set(second.GetId(), "open-air")
	update := func(id string, input *v1.SessionInput, names ...string) *v1.UpdateSessionRequest {
		return &v1.UpdateSessionRequest{SessionId: id, Session: input, UpdateMask: paths(names...)}
	}
	edit := update(
		first.GetId(), &v1.SessionInput{StartTime: timestamppb.New(on(7, "17:00")), Capacity: new(int32(3))}, "start_time",
		"capacity", "title",
	)
	edit.Etag = first.GetEtag()
	s.record(s.cora, "The coach moves the draft", edit)
	s.recordError(s.cora, "The coach edits a draft that has changed", "ETAG_MISMATCH", edit)
	s.recordError(
		s.cora, "The coach edits nothing", "SESSION_NOT_FOUND", update(absentID, &v1.SessionInput{}, "description"),
	)
	s.recordError(s.cora, "The coach names no field", "INVALID_FIELD", update(first.GetId(), &v1.SessionInput{}, "price"))

	class := s.class("taken", on(9, "10:00"))
	s.book(s.mia, class)
	s.book(s.tom, class)
	s.recordError(
		s.cora, "The coach has fewer seats than are taken", "CAPACITY_BELOW_TAKEN",
		update(class, &v1.SessionInput{Capacity: new(int32(1))}, "capacity"),
	)
	s.record(s.cora, "The coach moves it with its bookings", update(class, &v1.SessionInput{
		StartTime: timestamppb.New(on(9, "11:00")), ResourceId: s.annex,
	}, "start_time", "resource_id"))
	s.record(s.cora, "The coach makes it unlimited", update(class, &v1.SessionInput{Unlimited: true}, "unlimited"))
	s.record(s.mia, "Mia reads her booking of it", &v1.ListMyBookingsRequest{})
}

func recordSessionStates(s *studio) {
	s.startAt(on(5, "10:10"))
	class := s.draft("states", on(10, "10:00"))
	s.recordError(s.mia, "Mia reads a draft", "SESSION_NOT_FOUND", &v1.GetSessionRequest{SessionId: class})
	s.record(s.cora, "The coach reads a draft", &v1.GetSessionRequest{SessionId: class})
	s.recordError(s.cora, "The coach publishes", "PERMISSION_DENIED", &v1.PublishSessionRequest{SessionId: class})
	s.record(s.adam, "The admin publishes", &v1.PublishSessionRequest{SessionId: class})
	s.record(s.adam, "The admin publishes again", &v1.PublishSessionRequest{SessionId: class})
	s.recordError(
		s.adam, "The admin publishes an older one", "ETAG_MISMATCH", &v1.PublishSessionRequest{SessionId: class, Etag: "v1"},
	)
	s.record(s.mia, "Mia reads it", &v1.GetSessionRequest{SessionId: class})
	s.record(s.adam, "The admin unpublishes", &v1.UnpublishSessionRequest{SessionId: class})
	s.record(s.adam, "The admin unpublishes again", &v1.UnpublishSessionRequest{SessionId: class})
	s.silently(func() {
		mustCall[*v1.PublishSessionResponse](s.recording, s.olga, &v1.PublishSessionRequest{SessionId: class})
	})
	b := s.book(s.mia, class)
	s.book(s.tom, class)
	s.silently(func() {
		mustCall[*v1.BookResponse](s.recording, s.lena, &v1.BookRequest{SessionId: class})
	})
	s.settle()
	s.recordError(
		s.adam, "The admin unpublishes what is booked", "ACTIVE_BOOKINGS", &v1.UnpublishSessionRequest{SessionId: class},
	)
	s.record(s.adam, "The admin blocks it", &v1.BlockSessionRequest{SessionId: class, Reason: "The heating is off."})
	s.record(
		s.adam, "The admin blocks it again", &v1.BlockSessionRequest{SessionId: class, Reason: "The heating is still off."},
	)
	s.record(s.mia, "Mia reads the blocked session", &v1.GetSessionRequest{SessionId: class})
	s.record(s.adam, "The admin unblocks it", &v1.UnblockSessionRequest{SessionId: class})
	s.record(s.adam, "The admin unblocks it again", &v1.UnblockSessionRequest{SessionId: class})
	s.record(s.adam, "The admin cancels it", &v1.CancelSessionRequest{SessionId: class, Reason: "No heating."})
	s.record(s.adam, "The admin cancels it again", &v1.CancelSessionRequest{SessionId: class})
	s.record(s.mia, "Mia reads the cancelled booking", &v1.GetBookingRequest{BookingId: b.GetId()})
	s.recordError(
		s.adam, "The admin publishes a cancelled session", "SESSION_STATE", &v1.PublishSessionRequest{SessionId: class},
	)
	s.recordError(
		s.adam, "The admin unpublishes a cancelled session", "SESSION_STATE", &v1.UnpublishSessionRequest{SessionId: class},
	)
	s.recordError(
		s.adam, "The admin blocks a cancelled session", "SESSION_STATE", &v1.BlockSessionRequest{SessionId: class},
	)
	s.recordError(
		s.adam, "The admin unblocks a cancelled session", "SESSION_STATE", &v1.UnblockSessionRequest{SessionId: class},
	)
	s.recordError(s.adam, "The admin edits a cancelled session", "SESSION_STATE",
		&v1.UpdateSessionRequest{SessionId: class, Session: &v1.SessionInput{Title: "Late"}, UpdateMask: paths("title")})
	s.recordError(s.adam, "The admin cancels nothing", "SESSION_NOT_FOUND", &v1.CancelSessionRequest{SessionId: absentID})
}

func recordSessionLists(s *studio) {
	s.startAt(on(5, "10:20"))
	all := &v1.SessionFilter{StartsWithin: week()}
	page := recordResponse[*v1.ListSessionsResponse](
		s.recording, s.mia, "Mia lists two sessions", &v1.ListSessionsRequest{Filter: all, PageSize: 2},
	)
	s.record(
		s.mia, "Mia lists the others", &v1.ListSessionsRequest{Filter: all, PageSize: 2, PageToken: page.GetNextPageToken()},
	)
	s.record(
		s.cora, "The coach lists her own",
		&v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: week(), CoachIds: []string{s.cora.id}}},
	)
	s.record(s.portal, "The partner lists sessions of the park", &v1.ListSessionsRequest{Filter: &v1.SessionFilter{
		StartsWithin: week(), LocationIds: []string{s.park}, ServiceIds: []string{s.yoga},
		States: []v1.SessionState{v1.SessionState_SESSION_STATE_PUBLISHED},
	}})
	s.recordError(s.mia, "Mia lists for ever", "INVALID_FIELD", &v1.ListSessionsRequest{Filter: &v1.SessionFilter{}})
	s.recordError(s.mia, "Mia lists two years", "INVALID_FIELD",
		&v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: between(on(1, "00:00"), on(700, "00:00"))}})
	s.recordError(s.mia, "Mia goes on with another list's page", "INVALID_FIELD", &v1.ListSessionsRequest{
		Filter: &v1.SessionFilter{StartsWithin: between(on(3, "00:00"), on(4, "00:00"))}, PageToken: page.GetNextPageToken(),
	})
}

func recordBulk(s *studio) {
	s.startAt(on(5, "10:30"))
	first, second, third := s.draft(
		"bulk1", on(12, "08:00"),
	), s.draft("bulk2", on(12, "10:00")), s.draft("bulk3", on(12, "12:00"))
	day := &v1.SessionFilter{StartsWithin: between(on(12, "00:00"), on(13, "00:00"))}
	s.record(s.adam, "The admin previews the day", &v1.PreviewBulkRequest{Filter: day})
	s.record(s.adam, "The admin publishes the day", &v1.BulkPublishRequest{Filter: day})
	s.record(s.adam, "The admin publishes the day again", &v1.BulkPublishRequest{Filter: day})
	s.recordError(s.cora, "The coach publishes the day", "PERMISSION_DENIED", &v1.BulkPublishRequest{Filter: day})
	s.recordError(
		s.adam, "The admin publishes everything", "INVALID_FIELD", &v1.BulkPublishRequest{Filter: &v1.SessionFilter{}},
	)
	s.book(s.mia, first)
	s.book(s.tom, first)
	s.record(s.adam, "The admin previews the day with bookings", &v1.PreviewBulkRequest{Filter: day, IncludeBooked: true})
	s.record(
		s.adam, "The admin deletes the sessions without bookings",
		&v1.BulkDeleteRequest{Filter: &v1.SessionFilter{SessionIds: []string{first, second}}, Reason: "Few came."},
	)
	s.recordError(s.mia, "Mia reads a deleted session", "SESSION_NOT_FOUND", &v1.GetSessionRequest{SessionId: second})
	s.record(
		s.adam, "The admin deletes what is booked",
		&v1.BulkDeleteRequest{
			Filter: &v1.SessionFilter{SessionIds: []string{first}}, IncludeBooked: true, Notify: new(false),
		},
	)
	s.book(s.noah, third)
	s.record(
		s.adam, "The admin cancels the rest of the day",
		&v1.BulkCancelRequest{Filter: day, IncludeBooked: true, Reason: "Closed."},
	)
	s.record(s.adam, "The admin cancels the day again", &v1.BulkCancelRequest{Filter: day, IncludeBooked: true})
}

func recordImports(s *studio) {
	s.startAt(on(5, "10:40"))
	const header = "service,location,date,start,end,capacity,resource,coach_email,title,notes,status\n"
	file := func(rows string) *v1.ImportSessionsRequest {
		return &v1.ImportSessionsRequest{Csv: []byte(header + rows)}
	}
	good := file(
		"Yoga,Center,2024-06-13,08:00,09:00,5,Room,,Early,Quiet.,published\nyoga,center,2024-06-13,10:00,11:00,,,,,,\n",
	)
	good.DryRun = true
	s.record(s.adam, "The admin tries a file", good)
	good.DryRun = false
	s.record(s.adam, "The admin imports it", good)
	s.record(s.adam, "The admin imports it again", good)
	s.record(s.adam, "The admin imports wrong rows",
		file("Golf,Center,2024-06-13,08:00,09:00,,,,,,\n"+
			"Yoga,Moon,2024-06-31,25:00,09:00,many,Cellar,nobody@example.com,,,maybe\n"))
	s.recordError(s.adam, "The admin imports no table", "IMPORT_INVALID", &v1.ImportSessionsRequest{Csv: []byte("\"")})
	s.recordError(s.cora, "The coach imports", "PERMISSION_DENIED", good)
}

func recordWorkouts(s *studio) {
	s.startAt(on(5, "10:50"))
	class := s.class("workout", on(14, "10:00"))
	create := func(title, name string) *v1.Workout {
		return recordResponse[*v1.CreateWorkoutResponse](
			s.recording, s.cora, title, &v1.CreateWorkoutRequest{Name: name, Body: "Three rounds of " + name + "."},
		).GetWorkout()
	}
	sun, moon := create("The coach writes a workout", "Sun"), create("The coach writes another", "Moon")
	inline := recordResponse[*v1.AddInlineWorkoutResponse](s.recording, s.cora, "The coach writes one for a session alone",
		&v1.AddInlineWorkoutRequest{SessionId: class, Name: "Today", Body: "As we like."}).GetWorkout()
	s.recordError(
		s.cora, "The coach writes one for nothing", "SESSION_NOT_FOUND",
		&v1.AddInlineWorkoutRequest{SessionId: absentID, Name: "Today"},
	)
	ids := []string{moon.GetId(), inline.GetId(), sun.GetId()}
	s.record(s.cora, "The coach attaches workouts", &v1.SetWorkoutsRequest{SessionId: class, WorkoutIds: ids})
	s.recordError(
		s.cora, "The coach attaches to a session that has changed", "ETAG_MISMATCH",
		&v1.SetWorkoutsRequest{SessionId: class, Etag: "v1"},
	)
	s.recordError(
		s.cora, "The coach attaches nothing", "WORKOUT_NOT_FOUND",
		&v1.SetWorkoutsRequest{SessionId: class, WorkoutIds: []string{absentID}},
	)
	s.record(
		s.cora, "The coach edits a workout",
		&v1.UpdateWorkoutRequest{
			WorkoutId: sun.GetId(), Name: "Sunrise", UpdateMask: paths("name", "body"), Etag: sun.GetEtag(),
		},
	)
	s.recordError(s.cora, "The coach edits a workout that has changed", "ETAG_MISMATCH",
		&v1.UpdateWorkoutRequest{WorkoutId: sun.GetId(), Name: "Sunset", UpdateMask: paths("name"), Etag: sun.GetEtag()})
	s.recordError(
		s.cora, "The coach takes a name away", "INVALID_FIELD",
		&v1.UpdateWorkoutRequest{WorkoutId: sun.GetId(), UpdateMask: paths("name")},
	)
	s.record(s.cora, "The coach lists workouts of the session", &v1.ListWorkoutsRequest{SessionId: class})
	page := recordResponse[*v1.ListWorkoutsResponse](
		s.recording, s.cora, "The coach lists one workout", &v1.ListWorkoutsRequest{PageSize: 1},
	)
	s.record(
		s.cora, "The coach lists the next workout", &v1.ListWorkoutsRequest{PageSize: 1, PageToken: page.GetNextPageToken()},
	)
	s.record(s.cora, "The coach deletes a workout", &v1.DeleteWorkoutRequest{WorkoutId: moon.GetId()})
	s.record(s.cora, "The coach deletes it again", &v1.DeleteWorkoutRequest{WorkoutId: moon.GetId()})
	s.recordError(
		s.cora, "The coach deletes an inline workout", "INVALID_FIELD", &v1.DeleteWorkoutRequest{WorkoutId: inline.GetId()},
	)
	s.recordError(
		s.cora, "The coach edits a deleted workout", "WORKOUT_NOT_FOUND",
		&v1.UpdateWorkoutRequest{WorkoutId: moon.GetId(), UpdateMask: paths("body")},
	)
	s.recordError(s.mia, "Mia lists workouts", "PERMISSION_DENIED", &v1.ListWorkoutsRequest{})
	s.record(s.mia, "Mia sees which workouts are attached", &v1.GetSessionRequest{SessionId: class})
}
