package main

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// A studio is the tenant of an area of the script, with its callers.
type studio struct {
	*recording

	id, other    string // tenants: Harbour Yoga in Berlin, and Hillside Golf in New York
	center, park string // locations; the park has no geo point
	room, annex  string // at the center
	yoga         string // 60 minutes, 2 seats, 2 may wait, parties of up to 3

	olga, adam, cora, frida   person // owner, admin, coach, front desk
	mia, tom, lena, noah, zoe person // members
	portal                    person // a partner's service account
	kim, ivan                 person // a subject without membership, and an inactive member
	otto, mona                person // owner and member of the other tenant

	wholeMessages bool         // record whole mails, not only their subjects
	before        map[any]bool // ids of log entries from before the script
}

const (
	studioID = "01900000-0000-7000-8000-000000000001"
	golfID   = "01900000-0000-7000-8000-000000000002"
	absentID = "01900000-0000-7000-8000-00000000000f" // no object has this id
)

// newStudio creates the tenants on Wednesday, 5 June 2024, at 10:00 in Berlin.
func newStudio(r *recording) *studio {
	r.t.Helper()
	s := &studio{recording: r, id: studioID, other: golfID}
	r.names.set(s.id, "harbour")
	r.names.set(s.other, "hillside")
	r.names.set(absentID, "nothing")
	runBerth(r.t, "tenant", "create", "--database-url", r.db.URL, "--id", s.id, "--name", "Harbour Yoga",
		"--time-zone", "Europe/Berlin",
		"--owner-subject", "olga", "--owner-name", "Olga Owner", "--owner-email", "olga@harbour.example")
	runBerth(r.t, "tenant", "create", "--database-url", r.db.URL, "--id", s.other, "--name", "Hillside Golf",
		"--time-zone", "America/New_York", "--currency", "USD",
		"--owner-subject", "otto", "--owner-name", "Otto Owner", "--owner-email", "otto@hillside.example")
	r.startAt(on(5, "10:00"))
	r.noSettle = true // creating the data sends no messages
	r.silently(s.createData)
	r.noSettle = false
	r.settle()
	s.before = make(map[any]bool)
	for _, owner := range []person{s.olga, s.otto} {
		events, audit := r.readLogs(owner)
		for _, item := range slices.Concat(events, audit) {
			o, _ := item.(object)
			s.before[o.get("id")] = true
		}
	}
	return s
}

func (s *studio) createData() {
	s.olga, s.otto = s.ownerOf("olga", s.id), s.ownerOf("otto", s.other)
	s.center = s.location(
		"center",
		&v1.Location{Name: "Center", Geo: &latlng.LatLng{Latitude: 52.52, Longitude: 13.405}, Address: "Harbour Street 1"},
	)
	s.park = s.location("park", &v1.Location{Name: "Park"})
	s.room, s.annex = s.resource("room", "Room"), s.resource("annex", "Annex")
	s.yoga = s.service("yoga", &v1.Service{
		Name: "Yoga", Duration: durationpb.New(time.Hour), DefaultCapacity: new(int32(2)), DefaultWaitlistCapacity: 2,
		MinParty: 1, MaxParty: 3,
	})
	s.adam = s.staff("adam", "admin")
	s.cora = s.staff("cora", "coach")
	mustCall[*v1.CreateRoleResponse](s.recording, s.olga, &v1.CreateRoleRequest{Role: &v1.Role{
		Name: "front_desk", Title: "Front desk", Permissions: []string{
			"tenant.read", "catalog.read", "member.read", "member.write", "session.read", "booking.create",
			"booking.create_for_others", "booking.hold",
			"booking.hold_for_others", "booking.confirm_any", "booking.read", "booking.roster", "booking.cancel_any",
			"checkin.staff",
		},
	}})
	s.frida = s.staff("frida", "front_desk")
	s.mia = s.member(&v1.Member{Subject: "mia", Name: "Mia Member", Email: "mia@example.com", Phone: "+4915112345678"})
	s.tom = s.member(&v1.Member{Subject: "tom", Name: "Tom Member", Email: "tom@example.com"})
	s.lena = s.member(&v1.Member{Subject: "lena", Name: "Lena Member", Phone: "+4915112345679", Locale: "de"})
	s.noah = s.member(&v1.Member{Subject: "noah", Name: "Noah Member", Tier: "gold"})
	s.zoe = s.member(&v1.Member{Subject: "zoe", Name: "Zoe Member"})
	s.ivan = s.member(&v1.Member{Subject: "ivan", Name: "Ivan Inactive"})
	mustCall[*v1.UpdateMemberResponse](s.recording, s.olga, &v1.UpdateMemberRequest{
		Member: &v1.Member{Id: s.ivan.id, Status: v1.MemberStatus_MEMBER_STATUS_INACTIVE}, UpdateMask: paths("status"),
	})
	s.kim = person{name: "kim", token: s.token("kim", s.id)}
	s.mona = s.createMember(s.otto, s.other, &v1.Member{Subject: "mona", Name: "Mona Member"})
	account := mustCall[*v1.CreateServiceAccountResponse](
		s.recording, s.olga, &v1.CreateServiceAccountRequest{Name: "Portal", Roles: []string{"partner"}},
	)
	s.portal = person{name: "portal", id: account.GetServiceAccount().GetId(),
		token: mustCall[*v1.ExchangeKeyResponse](s.recording, anonymous,
			&v1.ExchangeKeyRequest{Key: account.GetKey()}).GetAccessToken()}
	s.names.set(s.portal.id, "portal")
}

// token returns a token for a subject, signed with the server's key.
func (r *recording) token(subject string, tenants ...string) string {
	r.t.Helper()
	return strings.TrimSpace(runBerth(r.t, "token", subject, "--tenant", strings.Join(tenants, ","), "--data", r.data))
}

func (s *studio) ownerOf(subject, tenant string) person {
	p := person{name: subject, token: s.token(subject, tenant)}
	p.id = mustCall[*v1.GetMeResponse](s.recording, p, &v1.GetMeRequest{}).GetMember().GetId()
	s.names.set(p.id, subject)
	return p
}

func (s *studio) location(name string, in *v1.Location) string {
	id := mustCall[*v1.CreateLocationResponse](
		s.recording, s.olga, &v1.CreateLocationRequest{Location: in},
	).GetLocation().GetId()
	s.names.set(id, name)
	return id
}

func (s *studio) resource(name, title string) string {
	in := &v1.Resource{LocationId: s.center, Name: title}
	id := mustCall[*v1.CreateResourceResponse](
		s.recording, s.olga, &v1.CreateResourceRequest{Resource: in},
	).GetResource().GetId()
	s.names.set(id, name)
	return id
}

func (s *studio) service(name string, in *v1.Service) string {
	id := mustCall[*v1.CreateServiceResponse](
		s.recording, s.olga, &v1.CreateServiceRequest{Service: in},
	).GetService().GetId()
	s.names.set(id, name)
	return id
}

func (s *studio) member(in *v1.Member) person { return s.createMember(s.olga, s.id, in) }

func (s *studio) createMember(owner person, tenant string, in *v1.Member) person {
	id := mustCall[*v1.CreateMemberResponse](s.recording, owner, &v1.CreateMemberRequest{Member: in}).GetMember().GetId()
	s.names.set(id, in.GetSubject())
	return person{name: in.GetSubject(), id: id, token: s.token(in.GetSubject(), tenant)}
}

func (s *studio) staff(subject, role string) person {
	p := s.member(&v1.Member{Subject: subject, Name: strings.ToUpper(subject[:1]) + subject[1:] + " Staff"})
	mustCall[*v1.AssignRoleResponse](s.recording, s.olga, &v1.AssignRoleRequest{MemberId: p.id, Role: role})
	return p
}

// class creates a published yoga session.
func (s *studio) class(name string, at time.Time, change ...func(*v1.SessionInput)) string {
	s.t.Helper()
	in := &v1.SessionInput{
		ServiceId: s.yoga, LocationId: s.center, StartTime: timestamppb.New(at), Title: strings.ToUpper(name[:1]) + name[1:],
	}
	for _, f := range change {
		f(in)
	}
	var id string
	s.silently(func() {
		id = mustCall[*v1.CreateSessionResponse](
			s.recording, s.olga, &v1.CreateSessionRequest{Session: in, Publish: true},
		).GetSession().GetId()
	})
	s.names.set(id, name)
	return id
}

func capacity(n int32) func(*v1.SessionInput) {
	return func(in *v1.SessionInput) { in.Capacity = &n }
}

func waitlistCapacity(n int32) func(*v1.SessionInput) {
	return func(in *v1.SessionInput) { in.WaitlistCapacity = &n }
}

// draft creates a yoga session that is not published.
func (s *studio) draft(name string, at time.Time) string {
	s.t.Helper()
	id := s.class(name, at)
	s.silently(func() {
		mustCall[*v1.UnpublishSessionResponse](s.recording, s.olga, &v1.UnpublishSessionRequest{SessionId: id})
	})
	return id
}

// book creates a booking without recording it.
func (s *studio) book(caller person, session string) *v1.Booking {
	s.t.Helper()
	var b *v1.Booking
	s.silently(func() {
		b = mustCall[*v1.BookResponse](s.recording, caller, &v1.BookRequest{SessionId: session}).GetBooking()
	})
	s.settle()
	return b
}

func between(from, until time.Time) *v1.TimeRange {
	return &v1.TimeRange{Start: timestamppb.New(from), End: timestamppb.New(until)}
}

// week returns the week of the script and the week after it.
func week() *v1.TimeRange { return between(on(3, "00:00"), on(17, "00:00")) }
