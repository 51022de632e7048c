package main

import (
	"maps"
	"time"

	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// build creates a request that succeeds when the world's owner sends it. It creates everything that the request needs,
// so that builds do not depend on each other.
type build func(w *world) proto.Message

// always builds the same request in every world.
func always(m proto.Message) build {
	return func(*world) proto.Message { return proto.Clone(m) }
}

// requests has builds for each RPC that together set every id of its request. The tests of all RPCs fail if an RPC or
// an id is missing here.
var requests = func() map[string][]build {
	all := maps.Clone(peopleRequests)
	maps.Copy(all, scheduleRequests)
	maps.Copy(all, waitlistRequests)
	maps.Copy(all, notificationRequests)
	return all
}()

// buildAll returns the requests of each RPC.
func (w *world) buildAll() map[string][]proto.Message {
	all := make(map[string][]proto.Message)
	for name, builds := range requests {
		for _, b := range builds {
			all[name] = append(all[name], b(w))
		}
	}
	return all
}

// Requests about members, roles, subscriptions and bookings.
var peopleRequests = map[string][]build{
	// Roles and service accounts

	"AccessService/AssignRole": {func(w *world) proto.Message {
		return &v1.AssignRoleRequest{MemberId: text(w.newMember().Member), Role: w.newRole()}
	}},
	"AccessService/CancelOwnershipTransfer": {func(w *world) proto.Message {
		return &v1.CancelOwnershipTransferRequest{TransferId: text(w.newTransfer())}
	}},
	"AccessService/ConfirmOwnershipTransfer": {func(w *world) proto.Message {
		return &v1.ConfirmOwnershipTransferRequest{TransferId: text(w.newTransfer())}
	}},
	"AccessService/ListOwnershipTransfers": {func(w *world) proto.Message {
		w.newTransfer()
		return &v1.ListOwnershipTransfersRequest{}
	}},
	"AccessService/TransferOwnership": {func(w *world) proto.Message {
		return &v1.TransferOwnershipRequest{MemberId: text(w.newMember().Member)}
	}},
	"AccessService/CheckAccess": {
		func(w *world) proto.Message {
			return &v1.CheckAccessRequest{
				Who: &v1.CheckAccessRequest_MemberId{MemberId: text(w.newMember().Member)}, Permission: "session.read",
			}
		},
		func(w *world) proto.Message {
			return &v1.CheckAccessRequest{
				Who: &v1.CheckAccessRequest_Subject{Subject: w.newMember().Subject}, Permission: "session.read",
			}
		},
		func(w *world) proto.Message {
			return &v1.CheckAccessRequest{
				Who: &v1.CheckAccessRequest_ServiceAccountId{ServiceAccountId: text(w.newAccount())}, Permission: "session.read",
			}
		},
	},
	"AccessService/CreateRole": {func(*world) proto.Message {
		return &v1.CreateRoleRequest{Name: unique(), Role: &v1.RoleInput{
			Title: unique(), Description: unique(), Permissions: []string{"session.read"},
		}}
	}},
	"AccessService/CreateServiceAccount": {func(w *world) proto.Message {
		return &v1.CreateServiceAccountRequest{ServiceAccount: &v1.ServiceAccountInput{
			Name: unique(), Description: unique(), Roles: []string{w.newRole()},
		}}
	}},
	"AccessService/DeleteRole":      {func(w *world) proto.Message { return &v1.DeleteRoleRequest{Name: w.newRole()} }},
	"AccessService/ListPermissions": {always(&v1.ListPermissionsRequest{})},
	"AccessService/ListRoles": {
		always(&v1.ListRolesRequest{PageSize: 2}),
		always(&v1.ListRolesRequest{Filter: &v1.RoleFilter{Permission: "member.read", BuiltIn: new(true)}}),
	},
	"AccessService/GetRole": {func(w *world) proto.Message { return &v1.GetRoleRequest{Name: w.newRole()} }},
	"AccessService/GetServiceAccount": {func(w *world) proto.Message {
		return &v1.GetServiceAccountRequest{ServiceAccountId: text(w.newAccount())}
	}},
	"AccessService/ListServiceAccounts": {func(w *world) proto.Message {
		w.newAccount()
		return &v1.ListServiceAccountsRequest{Filter: &v1.ServiceAccountFilter{
			Statuses: []v1.ServiceAccountStatus{
				v1.ServiceAccountStatus_SERVICE_ACCOUNT_STATUS_ACTIVE, v1.ServiceAccountStatus_SERVICE_ACCOUNT_STATUS_REVOKED,
			},
		}, PageSize: 1}
	}, func(w *world) proto.Message {
		role := w.newRole()
		return &v1.ListServiceAccountsRequest{Filter: &v1.ServiceAccountFilter{Role: role}}
	}},
	"AccessService/RevokeRole": {func(w *world) proto.Message {
		role := w.newRole()
		return &v1.RevokeRoleRequest{MemberId: text(w.person(unique(), role).Member), Role: role}
	}},
	"AccessService/RevokeServiceAccount": {func(w *world) proto.Message {
		return &v1.RevokeServiceAccountRequest{ServiceAccountId: text(w.newAccount())}
	}},
	"AccessService/RotateServiceAccountKey": {func(w *world) proto.Message {
		return &v1.RotateServiceAccountKeyRequest{ServiceAccountId: text(w.newAccount()), Overlap: durationpb.New(time.Hour)}
	}},
	"AccessService/UpdateRole": {func(w *world) proto.Message {
		return &v1.UpdateRoleRequest{
			Name: w.newRole(),
			Role: &v1.RoleInput{
				Title: unique(), Description: unique(), Permissions: []string{"session.read"},
			},
			UpdateMask: paths("title", "description", "permissions"),
		}
	}},
	"AccessService/ExchangeKey": {func(w *world) proto.Message {
		_, key := w.newKey()
		return &v1.ExchangeKeyRequest{Key: key}
	}},

	// Audit log and analytics

	"AnalyticsService/GetAttendanceSummary": {
		func(w *world) proto.Message { return &v1.GetAttendanceSummaryRequest{Filter: w.period()} },
	},
	"AnalyticsService/ListAttendanceDaily": {
		func(w *world) proto.Message { return &v1.ListAttendanceDailyRequest{Filter: w.period()} },
		func(w *world) proto.Message {
			f := w.period()
			f.StartDate = civilMessage(w.now.AddDate(0, 0, 1))
			return &v1.ListAttendanceDailyRequest{Filter: f, PageSize: 2}
		},
	},
	"AnalyticsService/GetBookingTrend": {func(w *world) proto.Message {
		return &v1.GetBookingTrendRequest{Filter: w.period(), Bucket: v1.TrendBucket_TREND_BUCKET_WEEK}
	}},
	"AnalyticsService/GetUtilization": {
		func(w *world) proto.Message { return &v1.GetUtilizationRequest{Filter: w.period()} },
		func(w *world) proto.Message {
			return &v1.GetUtilizationRequest{Filter: w.period(), GroupBy: v1.UtilizationGroup_UTILIZATION_GROUP_LOCATION}
		},
		func(w *world) proto.Message {
			return &v1.GetUtilizationRequest{Filter: w.period(), GroupBy: v1.UtilizationGroup_UTILIZATION_GROUP_RESOURCE}
		},
		func(w *world) proto.Message {
			return &v1.GetUtilizationRequest{Filter: w.period(), GroupBy: v1.UtilizationGroup_UTILIZATION_GROUP_WEEKDAY_HOUR}
		},
	},
	"AuditService/ListAuditEntries": {
		func(w *world) proto.Message {
			return &v1.ListAuditEntriesRequest{Filter: &v1.AuditEntryFilter{
				ActorId: text(w.owner.Member), ActorKind: v1.ActorKind_ACTOR_KIND_MEMBER, BatchId: text(w.batch),
				OccurredWithin: &v1.TimeRange{
					Start: timestamppb.New(w.now.Add(-time.Hour)), End: timestamppb.New(w.now.Add(time.Hour)),
				},
			}}
		},
		func(w *world) proto.Message {
			return &v1.ListAuditEntriesRequest{Filter: &v1.AuditEntryFilter{
				Action: "subscription.created", TargetKind: "subscription", TargetId: text(w.credits),
			}}
		},
		always(&v1.ListAuditEntriesRequest{PageSize: 1}),
	},

	"EventService/ListEvents": {
		func(w *world) proto.Message { return &v1.ListEventsRequest{Filter: w.newEvent()} },
		func(w *world) proto.Message {
			return &v1.ListEventsRequest{Filter: &v1.EventFilter{Types: w.newEvent().GetTypes()}, NewestFirst: true, PageSize: 1}
		},
	},
	"EventService/WatchEvents": {func(w *world) proto.Message {
		return &v1.WatchEventsRequest{Filter: w.newEvent(), HeartbeatInterval: durationpb.New(time.Second)}
	}},

	// Bookings

	"BookingService/Book": {func(w *world) proto.Message {
		who := w.newMember()
		return &v1.BookRequest{
			SessionId: text(w.newSession()), MemberId: text(who.Member), SubscriptionId: text(w.newSubscription(who)),
			PartySize: new(int32(2)), Channel: v1.BookingChannel_BOOKING_CHANNEL_PHONE, ExternalRef: unique(), Note: unique(),
		}
	}},
	"BookingService/CancelBooking": {
		func(w *world) proto.Message {
			return &v1.CancelBookingRequest{BookingId: text(w.newBooking(w.owner)), Reason: unique()}
		},
		func(w *world) proto.Message {
			return &v1.CancelBookingRequest{
				BookingId: text(w.newBooking(w.other)), Reason: unique(), OverrideWindow: true, Notify: new(false),
			}
		},
	},
	"BookingService/GetBooking": {
		func(w *world) proto.Message { return &v1.GetBookingRequest{BookingId: text(w.newBooking(w.other))} },
	},
	"BookingService/BatchGetBookings": {func(w *world) proto.Message {
		return &v1.BatchGetBookingsRequest{BookingIds: []string{text(w.newBooking(w.other))}}
	}},
	"BookingService/UpdateBooking": {func(w *world) proto.Message {
		return &v1.UpdateBookingRequest{
			BookingId: text(w.newBooking(w.other)), UpdateMask: paths("note", "contact"),
			Booking: &v1.BookingInput{Note: unique(), Contact: &v1.BookingContact{Name: unique()}},
		}
	}},
	"BookingService/ListBookings": {
		func(w *world) proto.Message {
			w.newBooking(w.owner)
			w.newBooking(w.owner)
			return &v1.ListBookingsRequest{PageSize: 1, Filter: &v1.BookingFilter{
				StartsWithin: w.month(), Statuses: []v1.BookingStatus{v1.BookingStatus_BOOKING_STATUS_CONFIRMED},
			}}
		},
		func(w *world) proto.Message {
			w.newBooking(w.other)
			return &v1.ListBookingsRequest{
				Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: &v1.BookingFilter{MemberId: text(w.other.Member)},
			}
		},
		func(w *world) proto.Message {
			w.newBooking(w.other)
			return &v1.ListBookingsRequest{
				Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: &v1.BookingFilter{StartsWithin: w.month()}, PageSize: 1,
			}
		},
		func(w *world) proto.Message {
			in := w.newSession()
			w.book(w.app, w.other, in)
			return &v1.ListBookingsRequest{Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: &v1.BookingFilter{
				SessionId: text(in), ServiceId: text(w.service), LocationId: text(w.location),
				CreatedById: text(w.other.Member),
			}}
		},
	},
	"BookingService/GetSessionRoster": {func(w *world) proto.Message {
		in := w.newSession()
		w.book(w.app, w.other, in)
		return &v1.GetSessionRosterRequest{
			SessionId: text(in), Statuses: []v1.BookingStatus{v1.BookingStatus_BOOKING_STATUS_CONFIRMED},
		}
	}},
	"BookingService/MarkNoShow": {
		func(w *world) proto.Message { return &v1.MarkNoShowRequest{BookingId: text(w.newPastBooking(w.other))} },
	},
	"BookingService/UndoNoShow": {func(w *world) proto.Message {
		id := w.newPastBooking(w.other)
		expect.OK(w.t)(w.app.Bookings.MarkNoShow(w.ctx(), w.owner, id))
		return &v1.UndoNoShowRequest{BookingId: text(id)}
	}},

	"BookingService/HoldBooking": {
		func(w *world) proto.Message {
			return &v1.HoldBookingRequest{
				SessionId: text(w.newSession()), MemberId: text(w.newMember().Member), PartySize: new(int32(2)),
				Channel:     v1.BookingChannel_BOOKING_CHANNEL_PHONE,
				Contact:     &v1.BookingContact{Name: unique(), Email: unique() + "@example.com", Phone: "+4915112345678"},
				ExternalRef: unique(), Note: unique(), Items: []*v1.ItemChoice{{ItemId: w.newItem().GetId(), Quantity: 1}},
			}
		},
		func(w *world) proto.Message {
			return &v1.HoldBookingRequest{
				SessionId: text(w.newSession()), Contact: &v1.BookingContact{Name: unique()}, GuestTier: "visitor",
			}
		},
	},
	"BookingService/ConfirmBooking": {
		func(w *world) proto.Message {
			held, provider := w.newHold(w.newMember()), w.newProvider()
			return &v1.ConfirmBookingRequest{
				BookingId: held.GetId(),
				Payment: &v1.PaymentFacts{
					Amount: euros(20), Method: unique(), Reference: unique(),
					Kind: v1.PaymentLineKind_PAYMENT_LINE_KIND_AUTHORIZATION,
				},
				BenefitProviderCode: provider.GetCode(), BenefitMembershipNumber: "M-12345",
				Items: &v1.ItemSelection{BookingItemIds: []string{held.GetItems()[0].GetId()}},
			}
		},
		func(w *world) proto.Message {
			who := w.newMember()
			return &v1.ConfirmBookingRequest{BookingId: w.newHold(who).GetId(), SubscriptionId: text(w.newSubscription(who))}
		},
	},
	"BookingService/RecordPayment": {
		func(w *world) proto.Message {
			return &v1.RecordPaymentRequest{BookingId: text(w.newBooking(w.other)), BeyondDue: true, Payment: &v1.PaymentFacts{
				Amount: euros(20), Method: unique(), Reference: unique(), Kind: v1.PaymentLineKind_PAYMENT_LINE_KIND_CAPTURE,
			}}
		},
		func(w *world) proto.Message {
			return &v1.RecordPaymentRequest{
				BookingId: w.newHold(w.newMember()).GetId(), Payment: &v1.PaymentFacts{Amount: euros(20)},
			}
		},
	},
	"BookingService/RefundPayment": {func(w *world) proto.Message {
		return &v1.RefundPaymentRequest{
			BookingId: text(w.newPaidBooking()), Amount: euros(20), Method: unique(), Reference: unique(),
		}
	}},
	"BookingService/ListPaymentLines": {func(w *world) proto.Message {
		return &v1.ListPaymentLinesRequest{BookingId: text(w.newPaidBooking())}
	}},
	"BookingService/ReleaseHold": {func(w *world) proto.Message {
		return &v1.ReleaseHoldRequest{BookingId: w.newHold(w.newMember()).GetId()}
	}},
	"BookingService/RescheduleBooking": {func(w *world) proto.Message {
		return &v1.RescheduleBookingRequest{
			BookingId: text(w.newBooking(w.other)), SessionId: text(w.newSession()), MoveItems: true, Notify: new(false),
		}
	}},
	"CatalogService/CreateItem": {func(w *world) proto.Message {
		return &v1.CreateItemRequest{LocationId: text(w.location), Item: itemInput()}
	}},
	"CatalogService/UpdateItem": {func(w *world) proto.Message {
		return &v1.UpdateItemRequest{
			ItemId: w.newItem().GetId(), Item: itemInput(),
			UpdateMask: paths("name", "kind", "stock", "price", "use_duration", "active"),
		}
	}},
	"CatalogService/GetItem": {
		func(w *world) proto.Message { return &v1.GetItemRequest{ItemId: w.newItem().GetId()} },
	},
	"CatalogService/ListItems": {
		func(w *world) proto.Message {
			w.newItem()
			return &v1.ListItemsRequest{
				Filter: &v1.ItemFilter{LocationId: text(w.location), Statuses: everyStatus()},
			}
		},
		func(w *world) proto.Message {
			w.newItem()
			w.newItem()
			return &v1.ListItemsRequest{PageSize: 1}
		},
	},
	"CatalogService/CreateBenefitProvider": {
		func(*world) proto.Message { return providerRequest(providerInput()) },
	},
	"CatalogService/UpdateBenefitProvider": {func(w *world) proto.Message {
		return &v1.UpdateBenefitProviderRequest{
			ProviderCode: w.newProvider().GetCode(), Provider: providerInput(),
			UpdateMask: paths("name", "number_pattern", "discount_percent", "active", "verification", "families"),
		}
	}},
	"CatalogService/GetBenefitProvider": {
		func(w *world) proto.Message {
			return &v1.GetBenefitProviderRequest{ProviderCode: w.newProvider().GetCode()}
		},
	},
	"CatalogService/ListBenefitProviders": {func(w *world) proto.Message {
		w.newProvider()
		return &v1.ListBenefitProvidersRequest{}
	}},
	"CatalogService/UpdateBenefitNumbers": {
		func(w *world) proto.Message {
			return &v1.UpdateBenefitNumbersRequest{
				ProviderCode: w.newProvider().GetCode(), Add: []string{unique(), unique()}, Remove: []string{unique()},
			}
		},
		func(w *world) proto.Message {
			return &v1.UpdateBenefitNumbersRequest{ProviderCode: w.newProvider().GetCode(), Add: []string{"M-1"}, Replace: true}
		},
	},
	"CatalogService/ListBenefitMemberships": {
		func(w *world) proto.Message {
			code, _ := w.newBenefitMembership()
			return &v1.ListBenefitMembershipsRequest{
				ProviderCode: code, Filter: &v1.BenefitMembershipFilter{MembershipNumber: "M-12345"},
			}
		},
		func(w *world) proto.Message {
			code, of := w.newBenefitMembership()
			return &v1.ListBenefitMembershipsRequest{ProviderCode: code, Filter: &v1.BenefitMembershipFilter{
				MembershipNumber: "M-12345", MemberId: of, Verified: new(false),
			}}
		},
		func(w *world) proto.Message {
			code, _ := w.newBenefitMembership()
			return &v1.ListBenefitMembershipsRequest{ProviderCode: code, PageSize: 1}
		},
	},
	"CatalogService/DeleteBenefitMembership": {func(w *world) proto.Message {
		code, of := w.newBenefitMembership()
		return &v1.DeleteBenefitMembershipRequest{ProviderCode: code, MemberId: of}
	}},

	// Check-in

	"CheckInService/CheckIn": {func(w *world) proto.Message {
		_, id := w.newArrival(w.other)
		return &v1.CheckInRequest{BookingId: text(id)}
	}},
	"CheckInService/UndoCheckIn": {func(w *world) proto.Message {
		_, id := w.newArrival(w.other)
		expect.OK(w.t)(w.app.Bookings.CheckIn(w.ctx(), w.owner, id))
		return &v1.UndoCheckInRequest{BookingId: text(id)}
	}},
	"CheckInService/SelfCheckIn": {
		func(w *world) proto.Message {
			in, _ := w.newArrival(w.owner)
			qr := expect.Value(w.app.Bookings.GetQRToken(w.ctx(), w.owner, in))(w.t)
			return &v1.SelfCheckInRequest{SessionId: text(in), Proof: &v1.SelfCheckInRequest_QrToken{QrToken: qr.Text}}
		},
		func(w *world) proto.Message {
			in, _ := w.newArrival(w.owner)
			return &v1.SelfCheckInRequest{
				SessionId: text(in),
				Proof:     &v1.SelfCheckInRequest_Position{Position: &latlng.LatLng{Latitude: 52.5, Longitude: 13.4}},
			}
		},
	},
	"CheckInService/GetQrToken": {
		func(w *world) proto.Message { return &v1.GetQrTokenRequest{SessionId: text(w.newOpenSession())} },
	},
	"CheckInService/CreateDisplayLink": {
		func(w *world) proto.Message { return &v1.CreateDisplayLinkRequest{SessionId: text(w.newOpenSession())} },
	},
	"CheckInService/ListDisplayLinks": {func(w *world) proto.Message {
		in := w.newOpenSession()
		expect.OK(w.t)(w.app.Bookings.CreateDisplayLink(w.ctx(), w.owner, in))
		return &v1.ListDisplayLinksRequest{SessionId: text(in)}
	}},
	"CheckInService/RevokeDisplayLink": {func(w *world) proto.Message {
		link := expect.Value(w.app.Bookings.CreateDisplayLink(w.ctx(), w.owner, w.newOpenSession()))(w.t)
		return &v1.RevokeDisplayLinkRequest{DisplayLinkId: text(link.Link.ID)}
	}},
	"CheckInService/GetCheckInDisplay": {func(w *world) proto.Message {
		in, _ := w.newArrival(w.other)
		return &v1.GetCheckInDisplayRequest{
			Token: expect.Value(w.app.Bookings.CreateDisplayLink(w.ctx(), w.owner, in))(w.t).Token,
		}
	}},
	"CheckInService/ListAttendance": {
		func(w *world) proto.Message {
			return &v1.ListAttendanceRequest{MemberId: text(w.newAbsences().Member), PageSize: 1}
		},
		func(w *world) proto.Message {
			return &v1.ListAttendanceRequest{MemberId: text(w.newAbsences().Member), Filter: &v1.AttendanceFilter{
				StartsWithin: &v1.TimeRange{
					Start: timestamppb.New(w.now.Add(-48 * time.Hour)), End: timestamppb.New(w.now.Add(48 * time.Hour)),
				},
				Statuses:  []v1.BookingStatus{v1.BookingStatus_BOOKING_STATUS_NO_SHOW},
				ServiceId: text(w.service), LocationId: text(w.location),
			}}
		},
	},

	// Plans and credits

	"CreditService/CreatePlan": {func(*world) proto.Message { return &v1.CreatePlanRequest{Plan: planInput()} }},
	"CreditService/UpdatePlan": {func(w *world) proto.Message {
		return &v1.UpdatePlanRequest{
			PlanId: text(w.newPlan().ID), Plan: planInput(),
			UpdateMask: paths(
				"name", "description", "credits", "period", "term", "daily_limit", "weekly_limit", "allow_overlap", "price",
				"active",
			),
		}
	}},
	"CreditService/GetPlan": {
		func(w *world) proto.Message { return &v1.GetPlanRequest{PlanId: text(w.newPlan().ID)} },
	},
	"CreditService/ListPlans": {func(w *world) proto.Message {
		w.newPlan()
		return &v1.ListPlansRequest{Filter: &v1.PlanFilter{Statuses: everyStatus()}, PageSize: 1}
	}},
	"CreditService/CreateSubscription": {func(w *world) proto.Message {
		return &v1.CreateSubscriptionRequest{
			MemberId: text(w.newMember().Member), Reason: unique(),
			Subscription: &v1.SubscriptionInput{
				PlanId: text(w.plan.ID), StartTime: timestamppb.New(w.now), EndTime: timestamppb.New(w.now.AddDate(0, 0, 90)),
			},
		}
	}},
	"BookingService/ImportBookings": {func(w *world) proto.Message {
		row := w.newMember().Subject + ",Yoga,2027-03-30,18:00\n"
		return &v1.ImportBookingsRequest{Csv: []byte("subject,service,date,start\n" + row)}
	}},
	"CreditService/ImportSubscriptions": {func(w *world) proto.Message {
		row := w.newMember().Subject + "," + w.plan.Name + ",3\n"
		return &v1.ImportSubscriptionsRequest{Csv: []byte("subject,plan,balance\n" + row)}
	}},
	"CreditService/UpdateSubscription": {func(w *world) proto.Message {
		return &v1.UpdateSubscriptionRequest{
			SubscriptionId: text(w.newSubscription(w.newMember())), Etag: "v1", UpdateMask: paths("end_time"), Reason: unique(),
			Subscription: &v1.SubscriptionInput{EndTime: timestamppb.New(w.now.AddDate(0, 0, 90))},
		}
	}},
	"CreditService/GetSubscription": {
		func(w *world) proto.Message { return &v1.GetSubscriptionRequest{SubscriptionId: text(w.credits)} },
	},
	"CreditService/ListSubscriptions": {func(w *world) proto.Message {
		who := w.newMember()
		w.newSubscription(who)
		w.newSubscription(who)
		return &v1.ListSubscriptionsRequest{
			Scope: v1.ListScope_LIST_SCOPE_ALL, PageSize: 1,
			Filter: &v1.SubscriptionFilter{
				MemberId: text(who.Member), PlanId: text(w.plan.ID),
				Statuses: []v1.SubscriptionStatus{v1.SubscriptionStatus_SUBSCRIPTION_STATUS_ACTIVE},
			},
		}
	}},
	"CreditService/PauseSubscription": {func(w *world) proto.Message {
		return &v1.PauseSubscriptionRequest{SubscriptionId: text(w.newSubscription(w.newMember())), Reason: unique()}
	}},
	"CreditService/ResumeSubscription": {func(w *world) proto.Message {
		id := w.newSubscription(w.newMember())
		expect.OK(w.t)(w.app.Accounts.SetSubscriptionStatus(w.ctx(), w.owner, id, credit.Paused, ""))
		return &v1.ResumeSubscriptionRequest{SubscriptionId: text(id), Reason: unique()}
	}},
	"CreditService/MarkSubscriptionInDebt": {func(w *world) proto.Message {
		return &v1.MarkSubscriptionInDebtRequest{SubscriptionId: text(w.newSubscription(w.newMember())), Reason: unique()}
	}},
	"CreditService/CancelSubscription": {func(w *world) proto.Message {
		return &v1.CancelSubscriptionRequest{SubscriptionId: text(w.newSubscription(w.newMember())), Reason: unique()}
	}},
	"CreditService/GrantCredits": {func(w *world) proto.Message {
		return &v1.GrantCreditsRequest{SubscriptionId: text(w.newSubscription(w.newMember())), Amount: 3, Reason: unique()}
	}},
	"CreditService/RefundCredit": {func(w *world) proto.Message {
		who := w.newMember()
		w.newSubscription(who)
		return &v1.RefundCreditRequest{BookingId: text(w.newBooking(who)), Reason: unique()}
	}},
	"CreditService/GetBalance": {func(w *world) proto.Message {
		return &v1.GetBalanceRequest{MemberId: text(w.other.Member), Statuses: []v1.SubscriptionStatus{
			v1.SubscriptionStatus_SUBSCRIPTION_STATUS_ACTIVE, v1.SubscriptionStatus_SUBSCRIPTION_STATUS_CANCELLED,
		}}
	}},
	"CreditService/ListCreditLines": {func(w *world) proto.Message {
		expect.OK(w.t)(w.app.Accounts.GrantCredits(w.ctx(), w.owner, w.credits, 1, unique()))
		expect.OK(w.t)(w.app.Accounts.GrantCredits(w.ctx(), w.owner, w.credits, 1, unique()))
		return &v1.ListCreditLinesRequest{SubscriptionId: text(w.credits), PageSize: 1, Filter: &v1.CreditLineFilter{
			Kinds:         []v1.CreditLineKind{v1.CreditLineKind_CREDIT_LINE_KIND_GRANT},
			CreatedWithin: timeRange(w.now.Add(-time.Hour), 2*time.Hour),
		}}
	}},

	// Members

	"MemberService/CreateMember": {
		func(*world) proto.Message { return &v1.CreateMemberRequest{Member: memberInput()} },
	},
	"MemberService/UpdateMember": {func(w *world) proto.Message {
		m := expect.Value(w.app.Accounts.CreateMember(w.ctx(), w.owner, memberWithoutSubject()))(w.t)
		return &v1.UpdateMemberRequest{MemberId: text(m.ID), Member: memberInput(), UpdateMask: paths(
			"subject", "name", "email", "phone", "tier", "tags", "locale", "time_zone", "notes",
		)}
	}},
	"SignInService/ListSignIns": {func(w *world) proto.Message {
		who := w.newMember().Member
		w.newSignIn(who)
		return &v1.ListSignInsRequest{MemberId: text(who)}
	}},
	"SignInService/RemovePasskey": {func(w *world) proto.Message {
		who := w.newMember().Member
		return &v1.RemovePasskeyRequest{MemberId: text(who), PasskeyId: text(w.newPasskey(who))}
	}},
	"SignInService/EndSignIns": {func(w *world) proto.Message {
		who := w.newMember().Member
		w.newSignIn(who)
		return &v1.EndSignInsRequest{MemberId: text(who), SignInIds: []string{text(w.newSignIn(who))}}
	}},
	"MemberService/DeactivateMember": {func(w *world) proto.Message {
		return &v1.DeactivateMemberRequest{MemberId: text(w.newMember().Member)}
	}},
	"MemberService/ReactivateMember": {func(w *world) proto.Message {
		who := w.newMember().Member
		expect.OK(w.t)(w.app.Accounts.DeactivateMember(w.ctx(), w.owner, who))
		return &v1.ReactivateMemberRequest{MemberId: text(who)}
	}},
	"MemberService/GetMember": {
		func(w *world) proto.Message { return &v1.GetMemberRequest{MemberId: text(w.newMember().Member)} },
	},
	"MemberService/ListMembers": {
		func(w *world) proto.Message {
			m := memberWithoutSubject()
			m.Tier, m.Tags = unique(), []string{unique()}
			m = expect.Value(w.app.Accounts.CreateMember(w.ctx(), w.owner, m))(w.t)
			return &v1.ListMembersRequest{Filter: &v1.MemberFilter{
				Query: m.Name, Role: tenant.RoleMember, Tier: m.Tier, Tag: m.Tags[0],
				Statuses: []v1.MemberStatus{v1.MemberStatus_MEMBER_STATUS_ACTIVE},
			}}
		},
		func(w *world) proto.Message {
			role := w.newRole()
			w.person(unique(), role)
			return &v1.ListMembersRequest{Filter: &v1.MemberFilter{Role: role}}
		},
		func(w *world) proto.Message {
			return &v1.ListMembersRequest{Filter: &v1.MemberFilter{ImportId: text(w.importMembers())}}
		},
		always(&v1.ListMembersRequest{PageSize: 1}),
	},
	"MemberService/ImportMembers": {func(*world) proto.Message {
		return &v1.ImportMembersRequest{Csv: []byte("name,email\n" + unique() + "," + unique() + "@example.com\n")}
	}},
	"MemberService/GetMe":  {always(&v1.GetMeRequest{})},
	"MemberService/LinkMe": {always(&v1.LinkMeRequest{})},
	"MemberService/UpdateMe": {func(w *world) proto.Message {
		w.forgetCodes()
		return &v1.UpdateMeRequest{
			Member: &v1.MeInput{
				Name: unique(), Email: unique() + "@example.com", Phone: "+4915112345678", Locale: "de",
				TimeZone: "Europe/Berlin",
			},
			UpdateMask: paths("name", "email", "phone", "locale", "time_zone"),
		}
	}},
	"MemberService/ConfirmContact": {func(w *world) proto.Message {
		return &v1.ConfirmContactRequest{Kind: v1.ContactKind_CONTACT_KIND_EMAIL, Code: w.newContactCode()}
	}},
	"MemberService/ResendContactCode": {func(w *world) proto.Message {
		w.newContactCode()
		w.forgetCodes()
		return &v1.ResendContactCodeRequest{Kind: v1.ContactKind_CONTACT_KIND_EMAIL}
	}},
	"InvitationService/BatchCreateInvitations": {
		func(*world) proto.Message {
			return invite(&v1.InvitationInput{Who: &v1.InvitationInput_Person{Person: &v1.InvitedPerson{
				Name: unique(), Email: unique() + "@example.com", Roles: []string{tenant.RoleCoach}, Locale: "de",
			}}})
		},
		func(w *world) proto.Message {
			return invite(&v1.InvitationInput{Who: &v1.InvitationInput_MemberId{MemberId: text(w.newInvitation().Member)}})
		},
	},
	"InvitationService/ListInvitations": {
		func(w *world) proto.Message {
			return &v1.ListInvitationsRequest{Filter: &v1.InvitationFilter{
				MemberId: text(w.newInvitation().Member),
				States:   []v1.InvitationState{v1.InvitationState_INVITATION_STATE_SENT},
			}}
		},
		func(w *world) proto.Message {
			w.newInvitation()
			w.newInvitation()
			return &v1.ListInvitationsRequest{PageSize: 1}
		},
	},
	"InvitationService/ResendInvitation": {func(w *world) proto.Message {
		return &v1.ResendInvitationRequest{InvitationId: text(w.newInvitation().ID)}
	}},
	"InvitationService/RevokeInvitation": {func(w *world) proto.Message {
		return &v1.RevokeInvitationRequest{InvitationId: text(w.newInvitation().ID)}
	}},
	"InvitationService/AcceptInvitation": {func(w *world) proto.Message {
		return &v1.AcceptInvitationRequest{Link: w.invitationOfOwner()}
	}},
	"MemberService/ConfirmMemberContact": {func(w *world) proto.Message {
		m := expect.Value(w.app.Accounts.CreateMember(w.ctx(), w.owner, memberWithoutSubject()))(w.t)
		return &v1.ConfirmMemberContactRequest{
			MemberId: text(m.ID), Kind: v1.ContactKind_CONTACT_KIND_EMAIL, Address: m.Email, Reason: unique(),
		}
	}},
	"MemberService/CancelContact": {func(w *world) proto.Message {
		w.newContactCode()
		return &v1.CancelContactRequest{Kind: v1.ContactKind_CONTACT_KIND_EMAIL}
	}},
	"MemberService/RegisterDevice": {func(*world) proto.Message {
		return &v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_WEB, Token: unique()}
	}},
	"MemberService/GetDevice": {func(w *world) proto.Message {
		return &v1.GetDeviceRequest{DeviceId: text(w.newDevice(w.owner))}
	}},
	"MemberService/ListDevices": {
		func(w *world) proto.Message {
			w.newDevice(w.owner)
			w.newDevice(w.owner)
			return &v1.ListDevicesRequest{PageSize: 1}
		},
		func(w *world) proto.Message {
			w.newDevice(w.owner)
			return &v1.ListDevicesRequest{
				Scope: v1.ListScope_LIST_SCOPE_ALL,
				Filter: &v1.DeviceFilter{
					MemberId: text(w.owner.Member), Kinds: []v1.DeviceKind{v1.DeviceKind_DEVICE_KIND_IOS},
				},
			}
		},
	},
	"MemberService/UnregisterDevice": {func(w *world) proto.Message {
		return &v1.UnregisterDeviceRequest{DeviceId: text(w.newDevice(w.owner))}
	}},
}
