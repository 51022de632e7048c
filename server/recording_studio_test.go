package main

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// A caller is the subject of a token.
type caller string

const (
	anonymous caller = "anonymous"
	olga      caller = "olga"  // owner
	adam      caller = "adam"  // admin
	cora      caller = "cora"  // coach
	frida     caller = "frida" // front desk
	mia       caller = "mia"
	tom       caller = "tom"
	lena      caller = "lena"
	noah      caller = "noah"
	zoe       caller = "zoe"
	ivan      caller = "ivan"   // an inactive member
	kim       caller = "kim"    // no member
	portal    caller = "portal" // a partner's service account
	otto      caller = "otto"   // owner of the other tenant
	mona      caller = "mona"   // member of the other tenant
)

const (
	studioID = "01900000-0000-7000-8000-000000000001" // Harbour Yoga in Berlin
	golfID   = "01900000-0000-7000-8000-000000000002" // Hillside Golf in New York
	absentID = "01900000-0000-7000-8000-00000000000f" // no object has this id
)

// begin creates the tenants on Wednesday, 5 June 2024, at 10:00 in Berlin.
func (r *recording) begin() {
	r.t.Helper()
	r.names.set(studioID, "harbour")
	r.names.set(golfID, "hillside")
	r.names.set(absentID, "nothing")
	runBerth(r.t, "tenant", "create", "--database-url", r.db.URL, "--id", studioID, "--name", "Harbour Yoga",
		"--time-zone", "Europe/Berlin",
		"--owner-subject", "olga", "--owner-name", "Olga Owner", "--owner-email", "olga@harbour.example")
	runBerth(r.t, "tenant", "create", "--database-url", r.db.URL, "--id", golfID, "--name", "Hillside Golf",
		"--time-zone", "America/New_York", "--currency", "USD",
		"--owner-subject", "otto", "--owner-name", "Otto Owner", "--owner-email", "otto@hillside.example")
	r.startAt(on(5, "10:00"))
	r.noSettle = true // creating the data sends no messages
	foundingScript().play(r)
	r.noSettle = false
	r.settle()
	for _, owner := range []caller{olga, otto} {
		events, audit := r.readLogs(owner)
		for _, item := range slices.Concat(events, audit) {
			r.before[textOf(item, "id")] = true
		}
	}
}

// foundingScript creates what both tenants have from the start.
func foundingScript() script {
	return script{
		olga.silently(&v1.GetMeRequest{}).named("olga"),
		otto.silently(&v1.GetMeRequest{}).named("otto"),
		olga.silently(&v1.CreateLocationRequest{Location: &v1.LocationInput{
			Name: "Center", Geo: &latlng.LatLng{Latitude: 52.52, Longitude: 13.405}, Address: "Harbour Street 1",
		}}).named("center"),
		// The park has no position.
		olga.silently(&v1.CreateLocationRequest{Location: &v1.LocationInput{Name: "Park"}}).named("park"),
		olga.silently(&v1.CreateResourceRequest{
			LocationId: "$center", Resource: &v1.ResourceInput{Name: "Room"},
		}).named("room"),
		olga.silently(&v1.CreateResourceRequest{
			LocationId: "$center", Resource: &v1.ResourceInput{Name: "Annex"},
		}).named("annex"),
		olga.silently(&v1.CreateServiceRequest{Service: &v1.ServiceInput{
			Name: "Yoga", Duration: durationpb.New(time.Hour), DefaultCapacity: new(int32(2)), DefaultWaitlistCapacity: 2,
			MinParty: 1, MaxParty: 3,
		}}).named("yoga"),
		staff("adam", "admin"),
		staff("cora", "coach"),
		olga.silently(&v1.CreateRoleRequest{Name: "front_desk", Role: &v1.RoleInput{
			Title: "Front desk", Permissions: []string{
				"tenant.read", "catalog.read", "member.read", "member.write", "session.read", "booking.create",
				"booking.create_for_others", "booking.hold",
				"booking.hold_for_others", "booking.confirm_any", "booking.read", "booking.roster", "booking.cancel_any",
				"checkin.staff",
			},
		}}),
		staff("frida", "front_desk"),
		newMember(&v1.MemberInput{Subject: "mia", Name: "Mia Member", Email: "mia@example.com", Phone: "+4915112345678"}),
		newMember(&v1.MemberInput{Subject: "tom", Name: "Tom Member", Email: "tom@example.com"}),
		newMember(&v1.MemberInput{Subject: "lena", Name: "Lena Member", Phone: "+4915112345679", Locale: "de"}),
		newMember(&v1.MemberInput{Subject: "noah", Name: "Noah Member", Tier: "gold"}),
		newMember(&v1.MemberInput{Subject: "zoe", Name: "Zoe Member"}),
		newMember(&v1.MemberInput{Subject: "ivan", Name: "Ivan Inactive"}),
		olga.silently(&v1.DeactivateMemberRequest{MemberId: "$ivan"}),
		otto.silently(&v1.CreateMemberRequest{Member: &v1.MemberInput{Subject: "mona", Name: "Mona Member"}}).named("mona"),
		olga.silently(&v1.CreateServiceAccountRequest{
			ServiceAccount: &v1.ServiceAccountInput{Name: "Portal", Roles: []string{"partner"}},
		}).named("portal").as("account"),
		anonymous.silently(&v1.ExchangeKeyRequest{Key: "$account.key"}).signsIn(portal),
	}
}

func newMember(in *v1.MemberInput) exchange {
	return olga.silently(&v1.CreateMemberRequest{Member: in}).named(in.GetSubject())
}

func staff(subject, role string) script {
	return script{
		newMember(&v1.MemberInput{Subject: subject, Name: capitalized(subject) + " Staff"}),
		olga.silently(&v1.AssignRoleRequest{MemberId: "$" + subject, Role: role}),
	}
}

func capitalized(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// class creates a published yoga session.
func class(name string, at time.Time, changes ...*v1.SessionInput) exchange {
	in := &v1.SessionInput{
		ServiceId: "$yoga", LocationId: "$center", StartTime: timestamppb.New(at), Title: capitalized(name),
	}
	for _, change := range changes {
		proto.Merge(in, change)
	}
	return olga.silently(&v1.CreateSessionRequest{Session: in, Publish: true}).named(name)
}

func capacity(n int32) *v1.SessionInput { return &v1.SessionInput{Capacity: &n} }

func waitlistCapacity(n int32) *v1.SessionInput { return &v1.SessionInput{WaitlistCapacity: &n} }

// draft creates a yoga session that is not published.
func draft(name string, at time.Time) script {
	return script{class(name, at), olga.silently(&v1.UnpublishSessionRequest{SessionId: "$" + name})}
}

// books creates a booking that is not recorded.
func (c caller) books(session string) exchange {
	return c.silently(&v1.BookRequest{SessionId: session})
}

func between(from, until time.Time) *v1.TimeRange {
	return &v1.TimeRange{Start: timestamppb.New(from), End: timestamppb.New(until)}
}

// week returns the week of the script and the week after it.
func week() *v1.TimeRange { return between(on(3, "00:00"), on(17, "00:00")) }
