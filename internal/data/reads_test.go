package data

import (
	"crypto/md5"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

//go:embed testdata/more.sql
var moreRows string

var (
	now   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	day   = civil.Date{Year: 2026, Month: 3, Day: 2}
)

// id is the id that the rows have by a name.
func id[I ~struct{ tenant.UUID }](name string) I { return I{uuid(name)} }

// uuid is what the SQL function id returns. No name is no id.
func uuid(name string) tenant.UUID {
	if name == "" {
		return tenant.UUID{}
	}
	return md5.Sum([]byte(name))
}

// names are the names of ids in the rows.
var names = strings.Fields(`tenant location resource service item plan workout member device account key series session
subscription booking line unit entry waiting round offer decision notice delivery audit batch code display screen other
third fourth fifth sixth seventh transfer receiver second`)

// sha is the SHA-256 of a text, as the SQL function hash returns it.
func sha(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// queue is the queue of most sessions.
var queue = waitlist.Queue{
	Location: id[tenant.LocationID]("location"), Service: id[tenant.ServiceID]("service"), Date: day,
}

type args []any

// reads has calls of functions that read, and what they find, in order. An argument that is a text names ids. What
// follows the arguments is where the function puts what it finds.
//
//nolint:dupword // names of rows
var reads = []struct {
	read any
	with args
	want string
}{
	// What a tenant offers.
	{catalogdb.FindLocation, args{"location"}, "location"},
	{catalogdb.ListLocations, args{catalogdb.LocationQuery{Limit: 9}}, "location"},
	{catalogdb.ListLocations, args{catalogdb.LocationQuery{Inactive: true, Limit: 9}}, "other location"},
	{catalogdb.ListLocations, args{catalogdb.LocationQuery{Inactive: true, Limit: 1}}, "other"},
	{catalogdb.ListLocations, args{catalogdb.LocationQuery{
		Inactive: true, AfterName: "DOCK", AfterID: id[tenant.LocationID]("other"), Limit: 9,
	}}, "location"},
	{catalogdb.HasSessions, args{"other"}, "true"},
	{catalogdb.HasSessions, args{"tenant"}, "false"},
	{catalogdb.FindService, args{"service"}, "service"},
	{catalogdb.ListServices, args{catalogdb.ServiceQuery{Limit: 9}}, "service"},
	{catalogdb.ListServices, args{catalogdb.ServiceQuery{Inactive: true, Limit: 9}}, "other service"},
	{catalogdb.ListServices, args{catalogdb.ServiceQuery{Inactive: true, Limit: 1}}, "other"},
	{catalogdb.ListServices, args{catalogdb.ServiceQuery{Inactive: true, Category: "sport", Limit: 9}}, "other"},
	{catalogdb.ListServices, args{catalogdb.ServiceQuery{
		Inactive: true, AfterName: "Archery", AfterID: id[tenant.ServiceID]("other"), Limit: 9,
	}}, "service"},
	{catalogdb.FindResource, args{"resource"}, "resource"},
	{catalogdb.ListResources, args{catalogdb.ResourceQuery{Limit: 9}}, "third resource"},
	{catalogdb.ListResources, args{catalogdb.ResourceQuery{Inactive: true, Limit: 9}}, "third other resource"},
	{catalogdb.ListResources, args{catalogdb.ResourceQuery{Inactive: true, Limit: 2}}, "third other"},
	{catalogdb.ListResources, args{catalogdb.ResourceQuery{
		Location: id[tenant.LocationID]("location"), Inactive: true, Limit: 9,
	}}, "other resource"},
	{catalogdb.ListResources, args{catalogdb.ResourceQuery{
		Inactive: true, AfterName: "Bay", AfterID: id[tenant.ResourceID]("other"), Limit: 9,
	}}, "resource"},
	{catalogdb.FindItem, args{"item"}, "item"},
	{catalogdb.FindItems, args{"item"}, "item"},
	{catalogdb.ListItems, args{catalogdb.ItemQuery{Limit: 9}}, "third item"},
	{catalogdb.ListItems, args{catalogdb.ItemQuery{Inactive: true, Limit: 9}}, "third other item"},
	{catalogdb.ListItems, args{catalogdb.ItemQuery{Inactive: true, Limit: 2}}, "third other"},
	{catalogdb.ListItems, args{catalogdb.ItemQuery{
		Location: id[tenant.LocationID]("location"), Inactive: true, Limit: 9,
	}}, "other item"},
	{catalogdb.ListItems, args{catalogdb.ItemQuery{
		Inactive: true, AfterName: "Boat", AfterID: id[tenant.ItemID]("other"), Limit: 9,
	}}, "item"},
	{catalogdb.FindPlan, args{"plan"}, "plan"},
	{catalogdb.ListPlans, args{false, "", "", 9}, "third plan"},
	{catalogdb.ListPlans, args{true, "", "", 9}, "third other plan"},
	{catalogdb.ListPlans, args{true, "", "", 2}, "third other"},
	{catalogdb.ListPlans, args{true, "Five", "other", 9}, "plan"},
	{catalogdb.FindBenefitProvider, args{"ARMY"}, "ARMY"},
	{catalogdb.ListBenefitProviders, nil, "ARMY CLUB"},
	{catalogdb.FindBenefitNumber, args{"CLUB", "1", "member"}, "true/false"},
	{catalogdb.FindBenefitNumber, args{"CLUB", "1", "other"}, "true/true"},
	{catalogdb.FindBenefitNumber, args{"CLUB", "0", "member"}, "false/true"},
	{catalogdb.FindBenefitNumber, args{"CLUB", "3", "member"}, "false/false"},
	{catalogdb.CountBenefitNumbers, args{"CLUB", []string{"1", "2", "3"}, []string{"2", "4"}}, "[2 1]"},
	{catalogdb.FindBenefitMembership, args{"CLUB", "member"}, "member"},
	{catalogdb.FindBenefitMembership, args{"CLUB", "third"}, "none"},
	{catalogdb.ListBenefitMemberships, args{catalogdb.MembershipQuery{Provider: "CLUB", Limit: 9}}, "other member"},
	{catalogdb.ListBenefitMemberships, args{catalogdb.MembershipQuery{Provider: "CLUB", Limit: 1}}, "other"},
	{catalogdb.ListBenefitMemberships, args{catalogdb.MembershipQuery{Provider: "CLUB", Key: "1", Limit: 9}}, "member"},
	{catalogdb.ListBenefitMemberships, args{catalogdb.MembershipQuery{
		Provider: "CLUB", AfterKey: "0", AfterMember: id[tenant.MemberID]("other"), Limit: 9,
	}}, "member"},

	// People.
	{accountdb.FindMember, args{"member"}, "member"},
	{accountdb.FindMemberBySubject, args{"bo"}, "other"},
	{accountdb.FindMemberBySubject, args{""}, "none"},
	{accountdb.FindIssuer, args{"bo"}, "https://id.example"},
	{accountdb.FindIssuer, args{"ana"}, ""},
	{accountdb.FindIssuer, args{"none"}, ""},
	{accountdb.ListMembers, args{member.Search{Limit: 9}}, "member other third receiver"},
	{accountdb.ListMembers, args{member.Search{Limit: 2}}, "member other"},
	{accountdb.ListMembers, args{member.Search{
		After: &member.Cursor{Name: "Bo", ID: id[tenant.MemberID]("other")}, Limit: 9,
	}}, "third receiver"},
	{accountdb.FindTransfer, args{"transfer"}, "none"}, // its sender is no owner
	{accountdb.ListTransfers, args{"receiver", now, 9}, ""},
	{accountdb.ListMembers, args{member.Search{Query: "CY", Limit: 9}}, "third"},
	{accountdb.ListMembers, args{member.Search{Query: "ANA@", Limit: 9}}, "member"},
	{accountdb.ListMembers, args{member.Search{Query: "44 12", Limit: 9}}, "other"},
	{accountdb.ListMembers, args{member.Search{Role: "zoo", Limit: 9}}, "third"},
	{accountdb.ListMembers, args{member.Search{Tier: "gold", Limit: 9}}, "other"},
	{accountdb.ListMembers, args{member.Search{Tag: "vip", Limit: 9}}, "other"},
	{accountdb.ListMembers, args{member.Search{Status: member.Inactive, Limit: 9}}, "other"},
	{accountdb.ListTaken, args{[]string{"BO@example.com", "", "x"}, []string{"ana", "", "x"}}, "BO@example.com; ana"},
	{accountdb.ListPeople, args{"third"}, "third"},
	{accountdb.FindOtherOwner, args{"member"}, "false"},
	{accountdb.FindLocaleByPhone, args{"+4413"}, "de"},
	{accountdb.FindLocaleByPhone, args{"+4412"}, ""},
	{accountdb.ListPendingContacts, args{"third"}, "third=EMAIL/new@example.com/third/" +
		strings.Trim(fmt.Sprintf("%d", sha("code")), "[]") + "/0/01T12:00"},
	{accountdb.ListPendingContacts, args{"other"}, ""},
	{accountdb.CountCodesOf, args{"member", member.ByEmail, now.Add(-time.Second)}, "2"},
	{accountdb.CountCodesOf, args{"member", member.ByEmail, now}, "1"},
	{accountdb.CountCodesOf, args{"member", member.ByPhone, now}, "0"},
	{accountdb.CountCodesTo, args{[][]byte{sha("address"), sha("x")}, now.Add(-time.Second)}, "2"},
	{accountdb.CountCodesTo, args{[][]byte{sha("address")}, now}, "1"},
	{accountdb.CountCodesTo, args{[][]byte{sha("other")}, now.Add(-time.Second)}, "1"},
	{accountdb.HasOldCodes, args{now}, "false"},
	{accountdb.HasOldCodes, args{now.Add(time.Microsecond)}, "true"},
	{accountdb.ListZones, nil, "Europe/Vienna; en"},
	{accountdb.ListDevices, args{"member"}, "other device"},
	{accountdb.HasDevice, args{"member", "device"}, "true"},
	{accountdb.HasDevice, args{"member", "third"}, "false"},
	{accountdb.HasStaleDevices, args{now}, "true"},
	{accountdb.HasStaleDevices, args{now.Add(-time.Second)}, "false"},
	{accountdb.ListOwnRoles, nil, "coach:0 zoo:0"},
	{accountdb.ListRoles, args{grant.RoleSearch{Limit: 9}}, "owner:1 coach:2 zoo:2"},
	{accountdb.ListRoles, args{grant.RoleSearch{Limit: 1}}, "owner:1"},
	{accountdb.ListRoles, args{grant.RoleSearch{After: "owner", Limit: 9}}, "coach:2 zoo:2"},
	{accountdb.ListRoles, args{grant.RoleSearch{After: "coach", Limit: 9}}, "zoo:2"},
	{accountdb.ListMemberRoles, args{"member", ""}, "coach"},
	{accountdb.ListMemberRoles, args{"other", ""}, ""},
	{accountdb.ListMemberRoles, args{"", "account"}, "coach"},
	{accountdb.ListMemberRoles, args{"", "other"}, ""},
	{accountdb.FindAccount, args{"account"}, "account"},
	{accountdb.ListAccounts, args{grant.ServiceAccountSearch{Limit: 9}}, "third account"},
	{accountdb.ListAccounts, args{grant.ServiceAccountSearch{Revoked: true, Limit: 9}}, "third other account"},
	{accountdb.ListAccounts, args{grant.ServiceAccountSearch{Revoked: true, Limit: 2}}, "third other"},
	{accountdb.ListAccounts, args{grant.ServiceAccountSearch{
		Revoked: true, After: &grant.ServiceAccountCursor{Name: "Door", ID: id[tenant.ServiceAccountID]("other")}, Limit: 9,
	}}, "account"},

	// Sessions.
	{scheduledb.FindSession, args{"session"}, "session"},
	{scheduledb.FindSession, args{"fourth"}, "none"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{Limit: 9}}, "third session fifth sixth seventh other"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{Limit: 2}}, "third session"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Unbooked: true, Limit: 9,
	}}, "third fifth sixth seventh"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		AfterStart: start, AfterID: id[tenant.SessionID]("session"), Limit: 9,
	}}, "fifth sixth seventh other"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{From: start}, Limit: 9,
	}}, "session fifth sixth seventh other"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{Filter: session.Filter{Until: start}, Limit: 9}}, "third"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Locations: []tenant.LocationID{id[tenant.LocationID]("other")}}, Limit: 9,
	}}, "third"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Services: []tenant.ServiceID{id[tenant.ServiceID]("other")}}, Limit: 9,
	}}, "third"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Resources: []tenant.ResourceID{id[tenant.ResourceID]("resource")}}, Limit: 9,
	}}, "session"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Coaches: []tenant.MemberID{id[tenant.MemberID]("member")}}, Limit: 9,
	}}, "third session"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{States: []catalog.SessionState{catalog.Draft}}, Limit: 9,
	}}, "other"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Series: id[tenant.SeriesID]("series")}, Limit: 9,
	}}, "session"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Sessions: []tenant.SessionID{
			id[tenant.SessionID]("other"), id[tenant.SessionID]("fourth"),
		}}, Limit: 9,
	}}, "other"},
	{scheduledb.ListSchedule, args{scheduledb.SessionQuery{Limit: 2}}, "third; session"},
	{scheduledb.ListSchedule, args{scheduledb.SessionQuery{
		AfterStart: start, AfterID: id[tenant.SessionID]("session"), Limit: 9,
	}}, "fifth; sixth; seventh; other"},
	{scheduledb.PreviewSessions, args{scheduledb.SessionQuery{Limit: 2}}, "6/2/0/third session"},
	{scheduledb.PreviewSessions, args{scheduledb.SessionQuery{
		Unbooked: true, Limit: 9,
	}}, "4/2/0/third fifth sixth seventh"},
	{scheduledb.ListBusySpans, args{
		"resource", "member", civil.Span{Start: start, End: start.Add(time.Hour)},
	}, "resource/member/02T08:00/02T09:00"},
	{scheduledb.ListBusySpans, args{
		"resource", "third", civil.Span{Start: start.Add(-time.Hour), End: start.Add(time.Second)},
	}, "resource/member/02T08:00/02T09:00"},
	{scheduledb.FindLeader, args{"member"}, "true/Ana"},
	{scheduledb.FindLeader, args{"third"}, "false/Cy"},
	{scheduledb.FindLeader, args{"other"}, "false/bo"},
	{scheduledb.FindSeries, args{"series"}, "series"},
	{scheduledb.ListSeriesToExtend, args{civil.Date{Year: 2026, Month: 3, Day: 10}}, "other"},
	{scheduledb.ListSeriesSessions, args{"series", day}, "session"},
	{scheduledb.ListSeriesSessions, args{"series", civil.Date{Year: 2026, Month: 3, Day: 3}}, ""},
	{scheduledb.FindWorkout, args{"workout"}, "workout"},
	{scheduledb.FindWorkouts, args{"third"}, "third"},
	{scheduledb.ListWorkouts, args{"", "", 9}, "other workout"},
	{scheduledb.ListWorkouts, args{"", "", 1}, "other"},
	{scheduledb.ListWorkouts, args{"Rest", "other", 9}, "workout"},
	{scheduledb.ListSessionWorkouts, args{"session"}, "workout other"},
	{scheduledb.ListNamedServices, args{[]string{"ROWING", "x"}}, "service"},
	{scheduledb.ListNamedLocations, args{[]string{"PIER", "x"}}, "location"},
	{scheduledb.ListNamedResources, args{[]string{"PIER", "PIER"}, []string{"BAY", "alley"}}, "other"},
	{scheduledb.ListNamedCoaches, args{[]string{"ANA@example.com", "", "x"}}, "member"},
	{scheduledb.ListNamedCoaches, args{[]string{"bo@EXAMPLE.com", ""}}, "other"},

	// Bookings and what pays for them.
	{bookingdb.FindBooking, args{"booking"}, "booking"},
	{bookingdb.FindBookingByRef, args{"ref3"}, "third"},
	{bookingdb.FindBookingByRef, args{""}, "none"},
	{bookingdb.FindActiveBooking, args{"session", "other"}, "other"},
	{bookingdb.FindActiveBooking, args{"session", "third"}, "none"},
	{bookingdb.ListSessionBookings, args{"session", false}, "booking other sixth"},
	{bookingdb.ListSessionBookings, args{"session", true}, "seventh booking other sixth"},
	{bookingdb.ListOpenBookings, args{"session third"}, "fifth booking other sixth"},
	{bookingdb.ListDueHolds, args{"session", now.Add(time.Hour)}, "other sixth"},
	{bookingdb.ListDueHolds, args{"session", now}, ""},
	{bookingdb.ListDueSessions, args{now.Add(time.Hour), 9}, "fifth session"},
	{bookingdb.ListDueSessions, args{now, 9}, "fifth"},
	{bookingdb.FindNextExpiry, nil, "01T12:00"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{
		Member: id[tenant.MemberID]("member"), Limit: 9,
	}}, "fifth booking fourth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{Member: id[tenant.MemberID]("member"), Limit: 1}}, "fifth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{
		Member: id[tenant.MemberID]("member"), Newest: true, Limit: 9,
	}}, "fourth booking fifth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{
		Member: id[tenant.MemberID]("member"), Newest: true, Limit: 1,
	}}, "fourth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{
		Member: id[tenant.MemberID]("member"), From: start, Limit: 9,
	}}, "booking fourth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{
		Member: id[tenant.MemberID]("member"), Until: start, Limit: 9,
	}}, "fifth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{
		Member: id[tenant.MemberID]("member"), EndsAfter: start, Limit: 9,
	}}, "booking fourth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{
		Member: id[tenant.MemberID]("member"), Statuses: []booking.Status{booking.NoShow}, Limit: 9,
	}}, "fourth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{
		Member: id[tenant.MemberID]("member"), AfterStart: start, AfterID: id[tenant.BookingID]("booking"), Limit: 9,
	}}, "fourth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{
		Member: id[tenant.MemberID]("member"), AfterStart: start, AfterID: id[tenant.BookingID]("booking"),
		Newest: true, Limit: 9,
	}}, "fifth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{Account: "sa:1", Limit: 9}}, "fifth fourth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{Account: "sa:1", Newest: true, Limit: 9}}, "fourth fifth"},
	{bookingdb.ListOwnBookings, args{bookingdb.OwnBookings{Account: "ana", Limit: 9}}, ""},
	{bookingdb.CountAttendance, args{"member", start.Add(24*time.Hour + time.Second)}, "1/1/0"},
	{bookingdb.CountAttendance, args{"member", start.Add(24 * time.Hour)}, "1/0/0"},
	{bookingdb.CountAttendance, args{"third", start.Add(time.Second)}, "0/0/1"},
	{bookingdb.ListNoShows, args{"session", 9}, "booking"},
	{bookingdb.FindDisplay, args{"session"}, "Pier/Ana/1/0"},
	{bookingdb.FindDisplayLink, args{"display"}, "display"},
	{bookingdb.ListDisplayLinks, args{"session", 9}, "other display"},
	{bookingdb.ListDisplayLinks, args{"session", 1}, "other"},
	{bookingdb.CountDisplayLinks, args{"session"}, "2"},
	{bookingdb.HasOldDisplayLinks, args{start.Add(time.Hour)}, "false"},
	{bookingdb.HasOldDisplayLinks, args{start.Add(time.Hour + time.Microsecond)}, "true"},
	{bookingdb.ListUpcoming, args{"third", start, 9}, ""},
	{bookingdb.ListUpcoming, args{"session", start.Add(-time.Hour), 9}, "Next//02T09:00"},
	{bookingdb.ListUpcoming, args{"session", start.Add(time.Hour), 9}, ""},
	{bookingdb.ListUpcoming, args{"fifth", start.Add(-time.Hour), 1}, "Night//02T20:00"},
	{bookingdb.ListArrivals, args{"third", 9}, "Ana/1/02T08:00"},
	{bookingdb.ListMoving, args{"other third"}, "fourth"},
	{bookingdb.ListPayments, args{"booking"}, "entry other"},
	{bookingdb.ListLedger, args{"subscription", 0, 9}, "other entry"},
	{bookingdb.ListLedger, args{"subscription", 2, 9}, "entry"},
	{bookingdb.ListLedger, args{"subscription", 0, 1}, "other"},
	{bookingdb.ListItemReservations, args{
		"item", civil.Span{Start: start, End: start.Add(time.Hour)},
	}, "item/1/02T08:00/02T09:00"},
	{bookingdb.ListItemReservations, args{"other", civil.Span{Start: start, End: start.Add(time.Hour)}}, ""},
	{bookingdb.ListItemReservations, args{
		"other", civil.Span{Start: start, End: start.Add(time.Hour + time.Second)},
	}, "other/2/02T09:00/02T10:00"},
	{bookingdb.FindSlot, args{"session"}, "session"},
	{bookingdb.FindSlot, args{"fourth"}, "none"},
	{bookingdb.FindSlotOf, args{"fifth"}, "third"},
	{bookingdb.FindSubscription, args{"subscription"}, "subscription"},
	{bookingdb.ListSubscriptions, args{"third"}, "third"},
	{bookingdb.ListMemberSubscriptions, args{"member"}, "other subscription fourth"},
	{bookingdb.ListDueSubscriptions, args{now, "", 9}, "other third"},
	{bookingdb.ListDueSubscriptions, args{now, "", 1}, "other"},
	{bookingdb.ListDueSubscriptions, args{now.Add(-time.Second), "", 9}, ""},
	{bookingdb.FindBookingSubscription, args{"other"}, "other"},
	{bookingdb.FindBookingSubscription, args{"booking"}, "none"},
	{bookingdb.FindPayers, args{"member", ""}, "subscription"},
	{bookingdb.FindPayers, args{"member", "other"}, "other"},
	{bookingdb.FindPayers, args{"third", "other"}, ""},
	{bookingdb.FindUsage, args{bookingdb.Usage{Subscription: id[tenant.SubscriptionID]("subscription"), On: day}}, "1"},
	{bookingdb.FindUsage, args{bookingdb.Usage{
		Subscription: id[tenant.SubscriptionID]("subscription"), Week: true, On: day,
	}}, "3"},
	{bookingdb.FindBookingMember, args{"member"}, "member"},

	// The waitlist.
	{waitlistdb.FindEntry, args{"waiting"}, "waiting"},
	{waitlistdb.FindEntryByRef, args{"ref2"}, "other"},
	{waitlistdb.FindEntryByRef, args{""}, "none"},
	{waitlistdb.FindActiveEntry, args{"session", "third"}, "other"},
	{waitlistdb.ListWaiting, args{"session"}, "waiting other"},
	{waitlistdb.ListOtherEntries, args{"session"}, "other"},
	{waitlistdb.ListOtherEntries, args{"session other"}, ""},
	{waitlistdb.ListWindows, args{"member", "service", "location"}, "third"},
	{waitlistdb.ListMemberEntries, args{"member", time.Time{}, time.Time{}, time.Time{}}, "third waiting"},
	{waitlistdb.ListMemberEntries, args{"member", start.Add(time.Second), time.Time{}, time.Time{}}, "third"},
	{waitlistdb.ListMemberEntries, args{"member", start.Add(72 * time.Hour), time.Time{}, time.Time{}}, ""},
	{waitlistdb.ListMemberEntries, args{"member", time.Time{}, start, time.Time{}}, "third"},
	{waitlistdb.ListMemberEntries, args{"member", time.Time{}, start.Add(-24 * time.Hour), time.Time{}}, ""},
	{waitlistdb.ListMemberEntries, args{"member", time.Time{}, time.Time{}, start.Add(time.Hour)}, "third"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Limit: 9}}, "waiting other third fourth"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Limit: 2}}, "waiting other"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Newest: true, Limit: 9}}, "third waiting fourth other"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		Newest: true, AfterID: id[tenant.EntryID]("third"), Limit: 9,
	}}, "waiting fourth other"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		AfterKey: 2, AfterID: id[tenant.EntryID]("other"), Limit: 9,
	}}, "third fourth"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Session: id[tenant.SessionID]("other"), Limit: 9}}, "other"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		Location: id[tenant.LocationID]("location"), Limit: 9,
	}}, "waiting other third fourth"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Location: id[tenant.LocationID]("other"), Limit: 9}}, ""},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		Service: id[tenant.ServiceID]("service"), Limit: 9,
	}}, "waiting other third fourth"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Service: id[tenant.ServiceID]("other"), Limit: 9}}, ""},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		Resource: id[tenant.ResourceID]("resource"), Limit: 9,
	}}, "waiting other fourth"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Member: id[tenant.MemberID]("third"), Limit: 9}}, "other"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{
		Statuses: []waitlist.Status{waitlist.Expired}, Limit: 9,
	}}, "fourth"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{From: start.Add(time.Second), Limit: 9}}, "other third"},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{From: start.Add(72 * time.Hour), Limit: 9}}, ""},
	{waitlistdb.ListEntries, args{waitlistdb.EntryQuery{Until: start, Limit: 9}}, "third"},
	{waitlistdb.FindOffer, args{"offer"}, "offer"},
	{waitlistdb.ListOffersByCode, args{"+4413", "34"}, "other"},
	{waitlistdb.ListOffersByCode, args{"+4412", "34"}, ""},
	{waitlistdb.ListLiveOffers, args{"session"}, "offer"},
	{waitlistdb.ListLiveOffersIn, args{"round"}, "offer"},
	{waitlistdb.ListDueOffers, args{start, 9}, "other offer"},
	{waitlistdb.ListDueOffers, args{start, 1}, "other"},
	{waitlistdb.ListDueOffers, args{start.Add(-time.Hour), 9}, "other"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Limit: 9}}, "third offer other"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Limit: 1}}, "third"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Oldest: true, Limit: 9}}, "other offer third"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Oldest: true, Limit: 1}}, "other"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{AfterID: id[tenant.OfferID]("offer"), Limit: 9}}, "other"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{
		AfterID: id[tenant.OfferID]("offer"), Oldest: true, Limit: 9,
	}}, "third"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Session: id[tenant.SessionID]("other"), Limit: 9}}, "other"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Entry: id[tenant.EntryID]("waiting"), Limit: 9}}, "third offer"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{Member: id[tenant.MemberID]("third"), Limit: 9}}, "other"},
	{waitlistdb.ListOffers, args{waitlistdb.OfferQuery{
		Statuses: []waitlist.OfferStatus{waitlist.Declined}, Limit: 9,
	}}, "third"},
	{waitlistdb.FindQueueSize, args{"session"}, "2"},
	{waitlistdb.ListAwaited, args{"session other third"}, "session other"},
	{waitlistdb.FindRound, args{"round"}, "round"},
	{waitlistdb.FindLastRound, args{"session"}, "round"},
	{waitlistdb.ListKeepingRounds, args{"session other"}, "other"},
	{waitlistdb.FindLastRulesVersion, nil, "2"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Limit: 9}}, "decision other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Oldest: true, Limit: 9}}, "other decision"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Limit: 1}}, "decision"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		Session: id[tenant.SessionID]("other"), Limit: 9,
	}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		Location: id[tenant.LocationID]("other"), Limit: 9,
	}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		Service: id[tenant.ServiceID]("other"), Limit: 9,
	}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{From: now.Add(time.Hour), Limit: 9}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Until: now.Add(time.Hour), Limit: 9}}, "decision"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{WithNote: true, Limit: 9}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		AfterID: id[tenant.DecisionID]("decision"), Limit: 9,
	}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{
		AfterID: id[tenant.DecisionID]("decision"), Oldest: true, Limit: 9,
	}}, ""},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Entry: id[tenant.EntryID]("waiting"), Limit: 9}}, "other"},
	{waitlistdb.ListDecisions, args{waitlistdb.DecisionQuery{Queues: []waitlist.Queue{queue}, Limit: 9}}, "decision"},
	{waitlistdb.ListQueues, args{[]waitlist.Queue{queue}}, "location/service/2026/March/2/2/0"},
	{waitlistdb.ListSessionQueues, args{"other"}, "location/service/2026/March/2 location/service/2026/March/3"},
	{waitlistdb.ListOpenSlots, args{
		"location", "service", civil.Span{Start: start, End: start.Add(13 * time.Hour)}, 1,
	}, "session fifth seventh"},
	{waitlistdb.ListOpenSlots, args{
		"location", "service", civil.Span{Start: start, End: start.Add(12 * time.Hour)}, 8,
	}, "session fifth"},
	{waitlistdb.ListOpenSlots, args{
		"location", "service", civil.Span{Start: start, End: start.Add(13 * time.Hour)}, 9,
	}, "seventh"},
	{waitlistdb.ListUnfilled, args{now, 9}, ""},
	{waitlistdb.ListEndingEntries, args{start, now, "", 9}, "other waiting"},
	{waitlistdb.ListEndingEntries, args{start.Add(-time.Second), now, "", 9}, ""},
	{waitlistdb.ListOrphans, args{9}, "; other"},

	// Messages, and the audit log.
	{messagedb.FindDelivery, args{"delivery", ""}, "delivery"},
	{messagedb.FindDelivery, args{"", "p2"}, "other"},
	{messagedb.FindDelivery, args{"", ""}, "none"},
	{messagedb.FindDeliveries, args{"third other"}, "third other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Limit: 9}}, "third other delivery"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Limit: 2}}, "third other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Member: id[tenant.MemberID]("third"), Limit: 9}}, "third"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{
		Booking: id[tenant.BookingID]("booking"), Limit: 9,
	}}, "other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Offer: id[tenant.OfferID]("offer"), Limit: 9}}, "other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{
		Statuses: []notify.DeliveryStatus{notify.Failed}, Limit: 9,
	}}, "other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Channel: notify.SMS, Limit: 9}}, "other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Topic: "MOVED", Limit: 9}}, "other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{From: now.Add(time.Hour), Limit: 9}}, "third other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Until: now.Add(time.Hour), Limit: 9}}, "delivery"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{Outbox: true, Limit: 9}}, "other"},
	{messagedb.ListDeliveries, args{messagedb.DeliveryQuery{
		BeforeAt: now.Add(time.Hour), BeforeID: id[tenant.DeliveryID]("third"), Limit: 9,
	}}, "other delivery"},
	{messagedb.CountTests, args{"third", now}, "1"},
	{messagedb.CountTests, args{"third", now.Add(2 * time.Hour)}, "0"},
	{messagedb.CountTests, args{"member", now.Add(2 * time.Hour)}, "0"},
	{messagedb.ListDueNotices, args{now, 9}, "other notice"},
	{messagedb.ListDueNotices, args{now, 1}, "other"},
	{messagedb.ListDueNotices, args{now.Add(-time.Second), 9}, "other"},
	{messagedb.FindNextNotice, nil, "01T11:00"},
	{messagedb.ListNotices, args{"notice other third", now}, "notice other"},
	{messagedb.ListNotices, args{"notice other third", now.Add(-time.Second)}, "other"},
	{messagedb.FindNotice, args{"notice"}, "notice"},
	{messagedb.FindFeed, args{[]byte("feed")}, "member"},
	{messagedb.ListMemberSchedule, args{"member", start.Add(-time.Hour), 9}, "fifth booking"},
	{messagedb.ListMemberSchedule, args{"member", start, 9}, "booking"},
	{messagedb.ListMemberSchedule, args{"member", start.Add(-time.Hour), 1}, "fifth"},
	{messagedb.ListSubjects, args{
		"booking", "waiting third", "other", "subscription",
	}, "booking other subscription third waiting"},
	{messagedb.ListTemplates, args{[]notify.Topic{"BOOKED"}}, "BOOKED/SMS/en//Hello//1/01T12:00"},
	{coredb.ListAudit, args{coredb.AuditQuery{Limit: 9}}, "other audit"},
	{coredb.ListAudit, args{coredb.AuditQuery{Limit: 1}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{Action: "CANCEL", Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{TargetKind: "session", Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{TargetID: "x", Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{Batch: id[tenant.BatchID]("batch"), Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{From: now.Add(time.Hour), Limit: 9}}, "other"},
	{coredb.ListAudit, args{coredb.AuditQuery{Until: now.Add(time.Hour), Limit: 9}}, "audit"},
	{coredb.ListAudit, args{coredb.AuditQuery{
		AfterAt: now.Add(time.Hour), AfterID: id[tenant.AuditID]("other"), Limit: 9,
	}}, "audit"},

	// What several of these have in common.
	{accountdb.FindTenant, nil, "tenant"},
	{accountdb.FindTenantProfile, nil, "Harbour; en; /"},
	{coredb.FindSnapshotVersion, nil, "1"},
	{coredb.HasOldKeys, args{now}, "true"},
	{coredb.HasOldKeys, args{now.Add(-time.Second)}, "false"},
	{bookingdb.ListLines, args{"booking"}, "booking/line booking/line booking/other"},
	{bookingdb.ListBusy, args{bookingdb.Visit{
		Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("member"),
	}}, "02T08:00/02T09:00"},
	{bookingdb.ListPayers, args{
		bookingdb.Visit{Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("member")}, "",
	}, "subscription"},
	{bookingdb.FindDouble, args{bookingdb.Visit{
		Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("third"),
	}}, "/other"},
	{bookingdb.FindDouble, args{bookingdb.Visit{
		Session: id[tenant.SessionID]("session"), Member: id[tenant.MemberID]("member"),
	}}, "booking/waiting"},
	{bookingdb.FindVisit, args{"booking"}, "session/member/false; location/service/2026/March/2"},
	{messagedb.FindMemberQuiet, args{"member"}, "true"},
	{messagedb.FindNotificationSettings, nil, "22/0/0/7/0/0/true/EMAIL=1 PUSH=1 SMS=1////0///1/01T12:00"},
	{messagedb.FindSenders, nil, "115 101 97 108 101 100/1/01T12:00/01T12:00"},
	{messagedb.FindDomainCheck, nil, "01T12:00"},
	{messagedb.ListMemberStops, args{"member"}, "EMAIL/ana@example.com/UNSUBSCRIBED/01T12:00"},
	{messagedb.ListMemberStops, args{"other"}, ""},
	{messagedb.ListPreferences, args{"member third"}, "member=BOOKED/SMS=true"},
	{messagedb.ListRecipients, args{"member third"}, "member third"},
	{messagedb.ListSent, args{"member", now.Add(time.Hour)}, ""},
	{messagedb.ListSendingHours, args{now}, "SMS/AT/01T12:00/1/0/80 SMS/DE/01T13:00/5/0/80"},
	{
		messagedb.ListSendingHours, args{now.Add(-time.Hour)},
		"EMAIL//01T11:00/1/0/80 SMS/AT/01T12:00/1/0/80 SMS/DE/01T13:00/5/0/80",
	},
	{messagedb.ListStandings, nil, "SMS/1/01T12:00/01T12:00"},
	{messagedb.ListReviews, args{now, start}, "EMAIL/0/02T08:00/02T08:00 SMS/1/01T12:00/01T12:00"},
	{messagedb.ListReviews, args{now.Add(-time.Second), start}, "EMAIL/0/02T08:00/02T08:00"},
	{messagedb.ListConduct, args{[]notify.Standing{
		{Channel: notify.SMS, Since: now}, {Channel: notify.Email, Since: now},
	}, start}, "EMAIL=0/1 SMS=1/2"},
	{messagedb.ListConduct, args{[]notify.Standing{{Channel: notify.SMS, Since: now.Add(time.Second)}}, start}, "SMS=1/1"},
	{waitlistdb.FindOfferByClaim, args{sha("claim")}, "offer"},
	{waitlistdb.FindActiveEntry, args{"other", "third"}, "other"},
	{waitlistdb.FindActiveEntry, args{"other", "member"}, "none"},
	{waitlistdb.ListRules, args{"location", "service"}, "TENANT/tenant//3"},
	{waitlistdb.ListAllRules, nil, "TENANT/tenant//3"},
	{waitlistdb.ListRulesVersions, args{waitlistdb.RulesVersionQuery{
		Limit: 9,
	}}, "TENANT/tenant//2/false/ana///01T12:00 TENANT/tenant//1/false/ana///01T12:00"},
	{waitlistdb.ListRulesVersions, args{waitlistdb.RulesVersionQuery{
		Limit: 1,
	}}, "TENANT/tenant//2/false/ana///01T12:00"},
	{waitlistdb.ListEditedLevels, nil, "TENANT/tenant/3/0"},
	{waitlistdb.ListEnding, args{"waiting"}, "waiting/location/service/2026/March/2/session/02T08:00/false/Europe/Vienna"},
	{waitlistdb.FindWaitSlot, args{"session"}, "session"},
	{bookingdb.CountAttendanceDaily, args{bookingdb.Period{From: day, To: day}}, "2026/March/2/5/0/32/2/2/1/0/1/1/2/0"},
	{bookingdb.ListZones, args{bookingdb.Period{From: day, To: day}}, "Europe/Paris Europe/Vienna"},
	{waitlistdb.ListQueued, args{waitlistdb.QueueQuery{
		Session: id[tenant.SessionID]("session"),
		Queue:   queue,
	}}, "waiting other"},
	{waitlistdb.ListQueued, args{waitlistdb.QueueQuery{
		Session: id[tenant.SessionID]("session"), Limit: 1,
		Queue: queue,
	}}, "waiting"},
	{waitlistdb.ListRivalOffers, args{waitlistdb.RivalQuery{Member: id[tenant.MemberID]("third")}}, "other"},
	{waitlistdb.ListRivalOffers, args{waitlistdb.RivalQuery{
		Entries: []tenant.EntryID{id[tenant.EntryID]("waiting")},
	}}, "offer"},
	{bookingdb.ListNoShowSessions, args{bookingdb.NoShowQuery{
		Since: start, Until: start.Add(2 * time.Hour), StartsFrom: now, Mark: true, After: time.Hour, Limit: 9,
	}}, ""},
}

// Each function reads the rows that its comment promises, in that order, and no others.
func TestReads_FindTheirRowsInOrder(t *testing.T) {
	t.Parallel()
	db := fill(t)
	in := id[tenant.TenantID]("tenant")
	for _, r := range reads {
		var (
			batch pg.Batch
			found []string
		)
		read := reflect.ValueOf(r.read)
		call, into := []reflect.Value{reflect.ValueOf(&batch), reflect.ValueOf(in)}, []reflect.Value(nil)
		for i := 2; i < read.Type().NumIn(); i++ {
			typ := read.Type().In(i)
			switch {
			case i-2 < len(r.with):
				call = append(call, argument(typ, r.with[i-2]))
			case typ.Kind() == reflect.Func:
				call = append(call, reflect.MakeFunc(typ, func(one []reflect.Value) []reflect.Value {
					found = append(found, show(one[0]))
					return nil
				}))
			case typ.Kind() == reflect.Map:
				call = append(call, reflect.MakeMap(typ))
				into = append(into, call[i])
			default:
				call = append(call, reflect.New(typ.Elem()))
				into = append(into, call[i])
			}
		}
		read.Call(call)
		must.NoError(t, db.ReadBatch(t.Context(), pg.Scope{Tenant: in}, &batch))
		for _, value := range into {
			found = append(found, show(value))
		}
		test.EqOp(t, r.want, strings.Join(found, "; "), test.Sprintf("%s %+v", nameOf(read), r.with))
	}
}

// fill creates a database with the rows of testdata.
func fill(t *testing.T) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t)
	rows := expect.Value(os.ReadFile("../../migrations/testdata/rows.sql"))(t)
	expect.OK(t)(db.Owner.Exec(t.Context(), string(rows)+moreRows, pgx.QueryExecModeSimpleProtocol))
	return db
}

func nameOf(function reflect.Value) string {
	return path.Base(runtime.FuncForPC(function.Pointer()).Name())
}

// argument converts an argument to the type of its parameter. A text names ids.
func argument(typ reflect.Type, arg any) reflect.Value {
	text, isText := arg.(string)
	value := reflect.New(typ).Elem()
	switch {
	case !isText || typ.Kind() == reflect.String:
		return reflect.ValueOf(arg).Convert(typ)
	case typ.Kind() == reflect.Slice:
		for name := range strings.FieldsSeq(text) {
			value = reflect.Append(value, argument(typ.Elem(), name))
		}
		return value
	case typ.Kind() == reflect.Struct:
		value.Field(0).Set(reflect.ValueOf(uuid(text)))
		return value
	default:
		return reflect.ValueOf(uuid(text))
	}
}

// show returns the names of the ids that were found, or the values of what has none.
func show(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return "none"
	}
	switch value := v.Interface().(type) {
	case time.Time:
		return value.UTC().Format("02T15:04")
	case grant.Role:
		return fmt.Sprintf("%s:%d", value.Name, value.Holders)
	case booking.BenefitProvider:
		return value.Code
	case booking.BenefitMembership:
		return show(reflect.ValueOf(value.Member))
	case catalogdb.ListedMembership:
		return show(reflect.ValueOf(value.Member))
	case waitlist.Slot:
		return show(reflect.ValueOf(value.Session))
	case fmt.Stringer:
		for _, name := range names {
			if value.String() == uuid(name).String() {
				return name
			}
		}
	}
	var parts []string
	switch v.Kind() {
	case reflect.Pointer:
		return show(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, show(v.Index(i)))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if value := v.MapIndex(key); value.Kind() == reflect.Pointer {
				parts = append(parts, show(key))
			} else {
				parts = append(parts, show(key)+"="+show(value))
			}
		}
		slices.Sort(parts)
	case reflect.Struct:
		if id := v.FieldByName("ID"); id.IsValid() {
			return show(id)
		}
		for _, field := range reflect.VisibleFields(v.Type()) {
			if field.IsExported() && !field.Anonymous {
				if part := show(v.FieldByIndex(field.Index)); part != "none" {
					parts = append(parts, part)
				}
			}
		}
		return strings.Join(parts, "/")
	default:
		return fmt.Sprint(v)
	}
	return strings.Join(parts, " ")
}
