package main

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Single sessions, bulk changes, imports and workouts.
func sessionsScript() script {
	return script{
		sessionEditsScript(),
		sessionStatesScript(),
		sessionListsScript(),
		bulkScript(),
		importsScript(),
		workoutsScript(),
		undoImportsScript(),
	}
}

func sessionEditsScript() script {
	create := func(in *v1.SessionInput) *v1.CreateSessionRequest {
		return &v1.CreateSessionRequest{Session: with(&v1.SessionInput{
			ServiceId: "$yoga", LocationId: "$center", StartTime: timestamppb.New(on(7, "18:00")),
		}, in)}
	}
	busy := func(in *v1.SessionInput) *v1.CreateSessionRequest {
		return create(with(&v1.SessionInput{ResourceId: "$room", CoachId: "$cora"}, in))
	}
	update := func(id string, input *v1.SessionInput, names ...string) *v1.UpdateSessionRequest {
		return &v1.UpdateSessionRequest{SessionId: id, Session: input, UpdateMask: paths(names...)}
	}
	edit := update(
		"$slow-flow", &v1.SessionInput{StartTime: timestamppb.New(on(7, "17:00")), Capacity: new(int32(3))}, "start_time",
		"capacity", "title",
	)
	edit.Etag = "$first.session.etag"
	return script{
		cora.calls("The coach drafts a session", create(&v1.SessionInput{
			ResourceId: "$room", CoachId: "$cora", Title: "Slow flow", Description: "Bring a towel.",
			EndTime: timestamppb.New(on(7, "19:30")), WaitlistCapacity: new(int32(1)),
		})).as("first").named("slow-flow"),
		cora.refused("The coach uses the room twice", "RESOURCE_BUSY", create(&v1.SessionInput{ResourceId: "$room"})),
		cora.refused("The coach is in two sessions", "STAFF_BUSY",
			create(&v1.SessionInput{ResourceId: "$annex", CoachId: "$cora"})),
		cora.refused("The coach uses no service", "SERVICE_NOT_FOUND", busy(&v1.SessionInput{ServiceId: absentID})),
		cora.refused("The coach uses no location", "LOCATION_NOT_FOUND", busy(&v1.SessionInput{LocationId: absentID})),
		cora.refused("The coach uses no room", "RESOURCE_NOT_FOUND", busy(&v1.SessionInput{ResourceId: absentID})),
		cora.refused("The coach uses another location's room", "RESOURCE_NOT_FOUND",
			busy(&v1.SessionInput{LocationId: "$park"})),
		cora.refused("The coach lets Mia lead", "COACH_INVALID", create(&v1.SessionInput{CoachId: "$mia"})),
		cora.refused("The coach gives no start", "INVALID_FIELD", &v1.CreateSessionRequest{Session: &v1.SessionInput{
			ServiceId: "$yoga", LocationId: "$center", ResourceId: "$room", CoachId: "$cora",
		}}),
		cora.refused("The coach ends it before the start", "INVALID_FIELD",
			busy(&v1.SessionInput{EndTime: timestamppb.New(on(7, "17:00"))})),
		mia.refused("Mia creates a session", "PERMISSION_DENIED", busy(&v1.SessionInput{})),
		olga.calls("The owner publishes an unlimited session", &v1.CreateSessionRequest{
			Publish: true, Session: &v1.SessionInput{
				ServiceId: "$yoga", LocationId: "$park", StartTime: timestamppb.New(on(8, "10:00")), Unlimited: true,
			},
		}).as("second").named("open-air"),
		cora.calls("The coach moves the draft", edit),
		adam.calls("The admin looks for who could stand in for the coach", &v1.FindSubstitutesRequest{CoachId: "$cora"}),
		adam.refused("The admin looks for a period that ends before it starts", "INVALID_FIELD",
			&v1.FindSubstitutesRequest{CoachId: "$cora", StartsWithin: between(on(8, "00:00"), on(7, "00:00"))}),
		mia.refused("Mia looks for a substitute", "PERMISSION_DENIED", &v1.FindSubstitutesRequest{CoachId: "$cora"}),
		cora.refused("The coach edits a draft that has changed", "ETAG_MISMATCH", edit),
		cora.refused("The coach edits nothing", "SESSION_NOT_FOUND", update(absentID, &v1.SessionInput{}, "description")),
		cora.refused("The coach names no field", "INVALID_FIELD", update("$slow-flow", &v1.SessionInput{}, "price")),
		class("taken", on(9, "10:00")),
		mia.books("$taken"),
		tom.books("$taken"),
		cora.refused("The coach has fewer seats than are taken", "CAPACITY_BELOW_TAKEN", update("$taken",
			&v1.SessionInput{Capacity: new(int32(1))}, "capacity")),
		cora.calls("The coach moves it with its bookings", update("$taken", &v1.SessionInput{
			StartTime: timestamppb.New(on(9, "11:00")), ResourceId: "$annex",
		}, "start_time", "resource_id")),
		cora.calls("The coach makes it unlimited", update("$taken", &v1.SessionInput{Unlimited: true}, "unlimited")),
		mia.calls("Mia reads her booking of it", &v1.ListBookingsRequest{}),
	}
}

func sessionStatesScript() script {
	return script{
		clock(on(5, "10:10")),
		draft("states", on(10, "10:00")),
		mia.refused("Mia reads a draft", "SESSION_NOT_FOUND", &v1.GetSessionRequest{SessionId: "$states"}),
		cora.calls("The coach reads a draft", &v1.GetSessionRequest{SessionId: "$states"}),
		cora.refused("The coach publishes", "PERMISSION_DENIED", &v1.PublishSessionRequest{SessionId: "$states"}),
		adam.calls("The admin publishes", &v1.PublishSessionRequest{SessionId: "$states"}),
		adam.calls("The admin publishes again", &v1.PublishSessionRequest{SessionId: "$states"}),
		adam.refused("The admin publishes an older one", "ETAG_MISMATCH",
			&v1.PublishSessionRequest{SessionId: "$states", Etag: "v1"}),
		mia.calls("Mia reads it", &v1.GetSessionRequest{SessionId: "$states"}),
		adam.calls("The admin unpublishes", &v1.UnpublishSessionRequest{SessionId: "$states"}),
		adam.calls("The admin unpublishes again", &v1.UnpublishSessionRequest{SessionId: "$states"}),
		olga.silently(&v1.PublishSessionRequest{SessionId: "$states"}),
		mia.books("$states").as("b"),
		tom.books("$states"),
		lena.silently(&v1.BookRequest{SessionId: "$states"}),
		adam.refused("The admin unpublishes what is booked", "ACTIVE_BOOKINGS",
			&v1.UnpublishSessionRequest{SessionId: "$states"}),
		adam.calls("The admin blocks it", &v1.BlockSessionRequest{SessionId: "$states", Reason: "The heating is off."}),
		adam.calls("The admin blocks it again",
			&v1.BlockSessionRequest{SessionId: "$states", Reason: "The heating is still off."}),
		mia.calls("Mia reads the blocked session", &v1.GetSessionRequest{SessionId: "$states"}),
		adam.calls("The admin unblocks it", &v1.UnblockSessionRequest{SessionId: "$states"}),
		adam.calls("The admin unblocks it again", &v1.UnblockSessionRequest{SessionId: "$states"}),
		adam.calls("The admin cancels it", &v1.CancelSessionRequest{SessionId: "$states", Reason: "No heating."}),
		adam.calls("The admin cancels it again", &v1.CancelSessionRequest{SessionId: "$states"}),
		mia.calls("Mia reads the cancelled booking", &v1.GetBookingRequest{BookingId: "$b.booking.id"}),
		adam.refused("The admin publishes a cancelled session", "SESSION_STATE",
			&v1.PublishSessionRequest{SessionId: "$states"}),
		adam.refused("The admin unpublishes a cancelled session", "SESSION_STATE",
			&v1.UnpublishSessionRequest{SessionId: "$states"}),
		adam.refused("The admin blocks a cancelled session", "SESSION_STATE",
			&v1.BlockSessionRequest{SessionId: "$states"}),
		adam.refused("The admin unblocks a cancelled session", "SESSION_STATE",
			&v1.UnblockSessionRequest{SessionId: "$states"}),
		adam.refused("The admin edits a cancelled session", "SESSION_STATE",
			&v1.UpdateSessionRequest{
				SessionId: "$states", Session: &v1.SessionInput{Title: "Late"}, UpdateMask: paths("title"),
			}),
		adam.refused("The admin cancels nothing", "SESSION_NOT_FOUND", &v1.CancelSessionRequest{SessionId: absentID}),
	}
}

func sessionListsScript() script {
	all := &v1.SessionFilter{StartsWithin: week()}
	return script{
		clock(on(5, "10:20")),
		mia.calls("Mia lists two sessions", &v1.ListSessionsRequest{Filter: all, PageSize: 2}).as("page"),
		mia.calls("Mia lists the others",
			&v1.ListSessionsRequest{Filter: all, PageSize: 2, PageToken: "$page.nextPageToken"}),
		cora.calls("The coach lists her own",
			&v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: week(), CoachIds: []string{"$cora"}}}),
		portal.calls("The partner lists sessions of the park", &v1.ListSessionsRequest{Filter: &v1.SessionFilter{
			StartsWithin: week(), LocationIds: []string{"$park"}, ServiceIds: []string{"$yoga"},
			Statuses: []v1.SessionStatus{v1.SessionStatus_SESSION_STATUS_PUBLISHED},
		}}),
		mia.refused("Mia lists for ever", "INVALID_FIELD", &v1.ListSessionsRequest{Filter: &v1.SessionFilter{}}),
		mia.refused("Mia lists two years", "INVALID_FIELD",
			&v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: between(on(1, "00:00"), on(700, "00:00"))}}),
		mia.refused("Mia lists from the end to the start", "INVALID_FIELD",
			&v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: between(on(4, "00:00"), on(3, "00:00"))}}),
		mia.refused("Mia goes on with another list's page", "INVALID_FIELD", &v1.ListSessionsRequest{
			Filter: &v1.SessionFilter{StartsWithin: between(on(3, "00:00"), on(4, "00:00"))}, PageToken: "$page.nextPageToken",
		}),
	}
}

func bulkScript() script {
	day := &v1.SessionFilter{StartsWithin: between(on(12, "00:00"), on(13, "00:00"))}
	return script{
		clock(on(5, "10:30")),
		draft("bulk1", on(12, "08:00")),
		draft("bulk2", on(12, "10:00")),
		draft("bulk3", on(12, "12:00")),
		adam.calls("The admin previews the day", &v1.PreviewBulkSessionsRequest{
			Filter: day, Action: v1.BulkSessionAction_BULK_SESSION_ACTION_PUBLISH,
		}).as("preview"),
		adam.refused("The admin cancels what a preview showed for publishing", "ETAG_MISMATCH",
			&v1.BulkCancelSessionsRequest{Filter: day, Token: "$preview.token"}),
		adam.calls("The admin publishes the day as previewed",
			&v1.BulkPublishSessionsRequest{Filter: day, Token: "$preview.token"}),
		adam.refused("The admin publishes what has changed since the preview", "ETAG_MISMATCH",
			&v1.BulkPublishSessionsRequest{Filter: day, Token: "$preview.token"}),
		adam.calls("The admin publishes the day again", &v1.BulkPublishSessionsRequest{Filter: day}),
		cora.refused("The coach publishes the day", "PERMISSION_DENIED", &v1.BulkPublishSessionsRequest{Filter: day}),
		adam.refused("The admin publishes everything", "INVALID_FIELD",
			&v1.BulkPublishSessionsRequest{Filter: &v1.SessionFilter{}}),
		mia.books("$bulk1"),
		tom.books("$bulk1"),
		adam.calls(
			"The admin previews the day with bookings",
			&v1.PreviewBulkSessionsRequest{
				Filter: day, Action: v1.BulkSessionAction_BULK_SESSION_ACTION_DELETE, IncludeBooked: true,
			},
		),
		adam.calls(
			"The admin deletes the sessions without bookings",
			&v1.BulkDeleteSessionsRequest{
				Filter: &v1.SessionFilter{SessionIds: []string{"$bulk1", "$bulk2"}},
				Reason: "Few came.",
			},
		),
		mia.refused("Mia reads a deleted session", "SESSION_NOT_FOUND", &v1.GetSessionRequest{SessionId: "$bulk2"}),
		mia.calls("Mia lists sessions by their ids, of which one was deleted", &v1.ListSessionsRequest{
			Filter: &v1.SessionFilter{SessionIds: []string{"$bulk3", "$bulk2", "$bulk1"}},
		}),
		adam.refused("The admin deletes a booked session", "ACTIVE_BOOKINGS", &v1.DeleteSessionRequest{SessionId: "$bulk1"}),
		draft("bulk4", on(12, "14:00")),
		cora.refused("The coach deletes a draft", "PERMISSION_DENIED", &v1.DeleteSessionRequest{SessionId: "$bulk4"}),
		adam.calls("The admin deletes a draft", &v1.DeleteSessionRequest{SessionId: "$bulk4", Reason: "A mistake."}),
		adam.refused("The admin deletes it again", "SESSION_NOT_FOUND", &v1.DeleteSessionRequest{SessionId: "$bulk4"}),
		adam.calls("The admin deletes what is booked", &v1.BulkDeleteSessionsRequest{
			Filter: &v1.SessionFilter{SessionIds: []string{"$bulk1"}}, IncludeBooked: true, Notify: new(false),
		}),
		noah.books("$bulk3"),
		adam.calls("The admin cancels the rest of the day",
			&v1.BulkCancelSessionsRequest{Filter: day, IncludeBooked: true, Reason: "Closed."}),
		adam.calls("The admin cancels the day again", &v1.BulkCancelSessionsRequest{Filter: day, IncludeBooked: true}),
	}
}

func importsScript() script {
	const header = "service,location,date,start,end,capacity,resource,coach_email,title,notes,status\n"
	file := func(rows string) *v1.ImportSessionsRequest {
		return &v1.ImportSessionsRequest{Csv: []byte(header + rows)}
	}
	good := file(
		"Yoga,Center,2024-06-13,08:00,09:00,5,Room,,Early,Quiet.,published\nyoga,center,2024-06-13,10:00,11:00,,,,,,\n",
	)
	return script{
		clock(on(5, "10:40")),
		adam.calls("The admin tries a file", with(good, &v1.ImportSessionsRequest{DryRun: true})).as("tried"),
		adam.calls("The admin reads what the trial found", &v1.GetImportRequest{ImportId: "$tried.fileImport.id"}),
		adam.calls("The admin imports it", good).as("imported"),
		adam.calls("The admin reads that it was imported", &v1.GetImportRequest{ImportId: "$imported.fileImport.id"}),
		adam.calls("The admin imports it again", good).as("again"),
		adam.calls("The admin reads what is in the way", &v1.GetImportRequest{ImportId: "$again.fileImport.id"}),
		adam.calls("The admin imports wrong rows", file("Golf,Center,2024-06-13,08:00,09:00,,,,,,\n"+
			"Yoga,Moon,2024-06-31,25:00,09:00,many,Cellar,nobody@example.com,,,maybe\n")).as("wrong"),
		adam.calls("The admin reads what is wrong", &v1.GetImportRequest{ImportId: "$wrong.fileImport.id"}),
		adam.calls("The admin lists imports that failed", &v1.ListImportsRequest{Filter: &v1.ImportFilter{
			Statuses: []v1.ImportStatus{v1.ImportStatus_IMPORT_STATUS_FAILED},
		}}),
		adam.refused("The admin reads no import", "IMPORT_NOT_FOUND", &v1.GetImportRequest{ImportId: absentID}),
		cora.refused("The coach reads an import", "PERMISSION_DENIED",
			&v1.GetImportRequest{ImportId: "$wrong.fileImport.id"}),
		adam.refused("The admin imports no table", "IMPORT_INVALID", &v1.ImportSessionsRequest{Csv: []byte("\"")}),
		cora.refused("The coach imports", "PERMISSION_DENIED", good),
	}
}

func workoutsScript() script {
	return script{
		clock(on(5, "10:50")),
		class("workout", on(14, "10:00")),
		cora.calls("The coach writes a workout",
			&v1.CreateWorkoutRequest{Workout: &v1.WorkoutInput{Name: "Sun", Body: "Three rounds of Sun."}}).as("sun"),
		cora.calls("The coach writes another",
			&v1.CreateWorkoutRequest{Workout: &v1.WorkoutInput{Name: "Moon", Body: "Three rounds of Moon."}}).as("moon"),
		cora.calls("The coach writes one for a session alone",
			&v1.AddInlineWorkoutRequest{
				SessionId: "$workout", Workout: &v1.WorkoutInput{Name: "Today", Body: "As we like."},
			}).as("inline"),
		cora.refused("The coach writes one for nothing", "SESSION_NOT_FOUND",
			&v1.AddInlineWorkoutRequest{SessionId: absentID, Workout: &v1.WorkoutInput{Name: "Today"}}),
		cora.calls("The coach attaches workouts", &v1.SetWorkoutsRequest{SessionId: "$workout", WorkoutIds: []string{
			"$moon.workout.id", "$inline.workout.id", "$sun.workout.id",
		}}),
		cora.refused("The coach attaches to a session that has changed", "ETAG_MISMATCH",
			&v1.SetWorkoutsRequest{SessionId: "$workout", Etag: "v1"}),
		cora.refused("The coach attaches nothing", "WORKOUT_NOT_FOUND",
			&v1.SetWorkoutsRequest{SessionId: "$workout", WorkoutIds: []string{absentID}}),
		cora.calls("The coach edits a workout", &v1.UpdateWorkoutRequest{
			WorkoutId: "$sun.workout.id", Workout: &v1.WorkoutInput{Name: "Sunrise"}, UpdateMask: paths("name", "body"),
			Etag: "$sun.workout.etag",
		}),
		cora.refused("The coach edits a workout that has changed", "ETAG_MISMATCH",
			&v1.UpdateWorkoutRequest{
				WorkoutId: "$sun.workout.id", Workout: &v1.WorkoutInput{Name: "Sunset"}, UpdateMask: paths("name"),
				Etag: "$sun.workout.etag",
			}),
		cora.refused("The coach takes a name away", "INVALID_FIELD",
			&v1.UpdateWorkoutRequest{
				WorkoutId: "$sun.workout.id", Workout: &v1.WorkoutInput{}, UpdateMask: paths("name"),
			}),
		cora.calls("The coach reads a workout", &v1.GetWorkoutRequest{WorkoutId: "$sun.workout.id"}),
		mia.refused("Mia reads a workout", "PERMISSION_DENIED", &v1.GetWorkoutRequest{WorkoutId: "$sun.workout.id"}),
		cora.refused("The coach reads no workout", "WORKOUT_NOT_FOUND", &v1.GetWorkoutRequest{WorkoutId: absentID}),
		cora.calls("The coach lists workouts of the session",
			&v1.ListWorkoutsRequest{Filter: &v1.WorkoutFilter{SessionId: "$workout"}}),
		cora.calls("The coach lists one workout", &v1.ListWorkoutsRequest{PageSize: 1}).as("page"),
		cora.calls("The coach lists the next workout",
			&v1.ListWorkoutsRequest{PageSize: 1, PageToken: "$page.nextPageToken"}),
		cora.calls("The coach deletes a workout", &v1.DeleteWorkoutRequest{WorkoutId: "$moon.workout.id"}),
		cora.calls("The coach deletes it again", &v1.DeleteWorkoutRequest{WorkoutId: "$moon.workout.id"}),
		cora.refused("The coach deletes an inline workout", "INVALID_FIELD",
			&v1.DeleteWorkoutRequest{WorkoutId: "$inline.workout.id"}),
		cora.refused("The coach edits a deleted workout", "WORKOUT_NOT_FOUND",
			&v1.UpdateWorkoutRequest{
				WorkoutId: "$moon.workout.id", Workout: &v1.WorkoutInput{}, UpdateMask: paths("body"),
			}),
		mia.refused("Mia lists workouts", "PERMISSION_DENIED", &v1.ListWorkoutsRequest{}),
		mia.calls("Mia sees which workouts are attached", &v1.GetSessionRequest{SessionId: "$workout"}),
	}
}

// undoImportsScript undoes imports of sessions.
func undoImportsScript() script {
	file := func(rows string) *v1.ImportSessionsRequest {
		return &v1.ImportSessionsRequest{Csv: []byte("service,location,date,start,end,status\n" + rows)}
	}
	undo := func(of string) *v1.UndoImportRequest {
		return &v1.UndoImportRequest{ImportId: "$" + of + ".fileImport.id"}
	}
	return script{
		adam.calls("The admin imports a session", file("Yoga,Center,2024-06-20,08:00,09:00,published\n")).as("used"),
		mia.calls("Mia looks for it", &v1.ListSessionsRequest{Filter: &v1.SessionFilter{
			StartsWithin: &v1.TimeRange{
				Start: timestamppb.New(on(20, "00:00")), End: timestamppb.New(on(21, "00:00")),
			},
		}}).as("found"),
		mia.calls("Mia books it", &v1.BookRequest{SessionId: "$found.sessions.0.id"}),
		adam.refused("The admin undoes the import", "IMPORT_IN_USE", undo("used")),
		adam.calls("The admin imports another", file("Yoga,Center,2024-06-20,10:00,11:00,published\n")).as("wrong"),
		cora.refused("The coach undoes that", "PERMISSION_DENIED", undo("wrong")),
		adam.calls("The admin undoes it", undo("wrong")).as("undoing"),
		adam.calls("The admin reads that it was undone", &v1.GetImportRequest{ImportId: "$wrong.fileImport.id"}),
		adam.calls("The admin undoes it again", undo("wrong")),
		adam.calls("The admin only tries a file",
			with(file("Yoga,Center,2024-06-20,12:00,13:00,\n"), &v1.ImportSessionsRequest{DryRun: true})).as("trial"),
		adam.refused("The admin undoes the trial", "IMPORT_STATE", undo("trial")),
		clock(on(8, "12:00")),
		adam.refused("The admin undoes the import, a day too late", "IMPORT_UNDO_EXPIRED", undo("used")),
	}
}
