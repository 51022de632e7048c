package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/worker"
)

// noon is when the tests begin: a Monday, two weeks before Europe's clocks go forward.
var noon = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

type clock struct{ at atomic.Pointer[time.Time] }

func (c *clock) Now() time.Time  { return *c.at.Load() }
func (c *clock) Set(t time.Time) { c.at.Store(&t) }

// postbox is a provider that takes what it is given, unless told otherwise.
type postbox struct {
	mu     sync.Mutex
	sent   []notify.Message
	answer func(m notify.Message) (notify.Receipt, error)
}

func (p *postbox) Send(_ context.Context, m notify.Message) (notify.Receipt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, m)
	if p.answer != nil {
		return p.answer(m)
	}
	return notify.Receipt{ProviderID: "p-" + m.ID.String(), Status: notify.Sent, Segments: 1}, nil
}

// failing lets the provider answer with errors on one channel; nil ends that.
func (p *postbox) failing(c notify.Channel, err *notify.SendError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = nil
	if err != nil {
		p.answer = func(m notify.Message) (notify.Receipt, error) {
			if m.Channel == c {
				return notify.Receipt{}, err
			}
			return notify.Receipt{ProviderID: "p-" + m.ID.String(), Status: notify.Sent}, nil
		}
	}
}

// take gives what was sent since it was last asked.
func (p *postbox) take() []notify.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.sent
	p.sent = nil
	return sent
}

// house is a tenant with a location in Berlin, whose messages go to a postbox.
type house struct {
	t          testing.TB
	db         *pgtest.DB
	app        *app.Services
	dispatcher *worker.Dispatcher
	clock      *clock
	post       *postbox

	Tenant   tenant.TenantID
	Owner    tenant.Caller
	Location tenant.LocationID
	Service  tenant.ServiceID
	serial   int

	appConfig    app.Config
	workerConfig worker.Config
}

func newHouse(t testing.TB, change ...func(*worker.Config, *app.Config)) *house {
	t.Helper()
	return newHouseOn(t, pgtest.New(t), change...)
}

func newHouseOn(t testing.TB, db *pgtest.DB, change ...func(*worker.Config, *app.Config)) *house {
	t.Helper()
	h := &house{t: t, db: db, clock: new(clock), post: new(postbox)}
	h.clock.Set(noon)
	keys, err := checkin.NewKeys([]byte("a key for tests that is 32 bytes"))
	h.ok(err)
	seals, err := seal.NewKeys([]byte("a key for tests that is 32 bytes"))
	h.ok(err)
	claims, err := waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes"))
	h.ok(err)
	ac := app.Config{
		DB: h.db.DB, Now: h.clock.Now, CheckInKeys: keys, Claims: claims, Seals: seals, PublicURL: "https://berth.example",
		PlatformSenders: map[notify.Channel]string{notify.SMS: messages.ProviderTwilio, notify.Push: messages.ProviderFCM, notify.Email: messages.ProviderSMTP},
	}
	ac.Send = func(ctx context.Context, in tenant.TenantID, out []messages.Outgoing) []messages.AttemptResult {
		return h.dispatcher.SendAll(ctx, in, out)
	}
	wc := worker.Config{
		Platform: make(map[string]func(tenant.TenantID) worker.Sender),
		Log:      slog.New(slog.DiscardHandler), Now: h.clock.Now,
	}
	for _, provider := range []string{messages.ProviderTwilio, messages.ProviderFCM, messages.ProviderSMTP, messages.LocalOutbox} {
		wc.Platform[provider] = func(tenant.TenantID) worker.Sender { return h.post }
	}
	for _, f := range change {
		f(&wc, &ac)
	}
	h.app = app.New(ac)
	wc.App = h.app
	h.dispatcher, err = worker.New(wc)
	h.ok(err)
	h.appConfig, h.workerConfig = ac, wc
	h.moveIn("Harbour Yoga")
	return h
}

// moveIn makes a tenant with all that it needs.
func (h *house) moveIn(name string) {
	h.t.Helper()
	made, err := h.app.Accounts.CreateTenant(h.ctx(), accounts.NewTenant{
		Name: name, TimeZone: "Europe/Berlin", Locale: "en", Currency: "EUR",
		Owner: &accounts.FirstOwner{Subject: tenant.RoleOwner, Name: "Olga Owner", Email: "olga@example.com"},
	})
	h.ok(err)
	h.Tenant = made.ID
	members, err := h.app.Accounts.ListMembers(h.ctx(), tenant.System(h.Tenant), member.Search{Limit: 1})
	h.ok(err)
	h.Owner = tenant.Caller{Tenant: h.Tenant, Subject: tenant.RoleOwner, Member: members[0].ID, Roles: []string{tenant.RoleOwner}}
	location, err := h.app.Catalog.CreateLocation(h.ctx(), h.Owner, catalog.Location{Name: "Pier 1", TimeZone: "Europe/Berlin", Channels: catalog.Channels(), Active: true})
	h.ok(err)
	service, err := h.app.Catalog.CreateService(h.ctx(), h.Owner, catalog.Service{
		Name: "Vinyasa", Duration: time.Hour, DefaultCapacity: new(10), DefaultWaitlistCapacity: 5, MinParty: 1, MaxParty: 4, Delivery: catalog.InPerson, Active: true,
	})
	h.ok(err)
	h.Location, h.Service = location.ID, service.ID
}

// neighbour is another tenant of the same service.
func (h *house) neighbour(name string) *house {
	h.t.Helper()
	other := *h
	other.moveIn(name)
	return &other
}

// node is another node of the same service.
func (h *house) node() *house {
	h.t.Helper()
	other := *h
	other.app = app.New(h.appConfig)
	config := h.workerConfig
	config.App = other.app
	var err error
	other.dispatcher, err = worker.New(config)
	h.ok(err)
	return &other
}

// offering makes offers what becomes of freed seats.
func (h *house) offering(change ...func(*waitlist.Settings)) {
	h.t.Helper()
	_, err := h.app.Settings.UpdateRules(h.ctx(), h.Owner, settings.RulesEdit{Edit: func(s *waitlist.Settings) {
		s.Enabled, s.Mode = new(true), new(waitlist.OfferInTurn)
		for _, f := range change {
			f(s)
		}
	}})
	h.ok(err)
}

// freed lets somebody else cancel the one place of a session for which members wait, in that order.
func (h *house) freed(start time.Time, waiting ...tenant.Caller) tenant.SessionID {
	h.t.Helper()
	class := h.session(start, func(in *session.Input) { in.Capacity = new(1) })
	h.serial++
	first := h.member(fmt.Sprint("First", h.serial))
	place := h.book(first, class)
	for _, who := range waiting {
		h.book(who, class)
	}
	_, err := h.app.Bookings.CancelBooking(h.ctx(), first, bookings.CancelRequest{ID: place.Booking.ID})
	h.ok(err)
	return class
}

// offers gives those of a session, in the order in which they were made.
func (h *house) offers(in tenant.SessionID) []waitlist.Offer {
	h.t.Helper()
	story, err := h.app.Waitlists.ExplainSession(h.ctx(), h.Owner, in)
	h.ok(err)
	return story.Offers
}

func (h *house) ctx() context.Context { return context.Background() }

func (h *house) ok(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// member makes one with a number, an address and a device.
func (h *house) member(name string) tenant.Caller {
	h.t.Helper()
	h.serial++
	subject := fmt.Sprintf("user-%d", h.serial)
	m, err := h.app.Accounts.CreateMember(h.ctx(), h.Owner, member.Member{
		Subject: subject, Name: name, Email: strings.ToLower(name) + "@example.com", Phone: fmt.Sprintf("+4930%07d", 1000000+h.serial),
	})
	h.ok(err)
	who := tenant.Caller{Tenant: h.Tenant, Subject: subject, Member: m.ID, Roles: []string{tenant.RoleMember}}
	_, err = h.app.Accounts.RegisterDevice(h.ctx(), who, member.IOS, "device-of-"+subject)
	h.ok(err)
	return who
}

func (h *house) session(at time.Time, change ...func(*session.Input)) tenant.SessionID {
	h.t.Helper()
	in := session.Input{Service: h.Service, Location: h.Location, StartsAt: at}
	for _, f := range change {
		f(&in)
	}
	made, err := h.app.Schedules.CreateSession(h.ctx(), h.Owner, in, true)
	h.ok(err)
	return made.ID
}

func (h *house) book(who tenant.Caller, in tenant.SessionID) seats.Place {
	h.t.Helper()
	place, err := h.app.Bookings.Book(h.ctx(), who, bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Online})
	h.ok(err)
	return place
}

// consume plans from all events there are.
func (h *house) consume() {
	h.t.Helper()
	for {
		done, err := outbox.Consume(h.ctx(), h.db.DB, h.Tenant, h.app.Messages.NoticeConsumer())
		h.ok(err)
		if !done.More && !done.Held {
			return
		}
	}
}

// run plans and delivers what is due now, and gives what was sent as "TOPIC CHANNEL name", sorted.
func (h *house) run() []string {
	h.t.Helper()
	h.consume()
	h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
	var told []string
	for _, m := range h.post.take() {
		told = append(told, fmt.Sprintf("%s %s", m.Data["topic"], m.Channel))
	}
	slices.Sort(told)
	return told
}

// at sets the clock, and runs.
func (h *house) at(t time.Time) []string {
	h.t.Helper()
	h.clock.Set(t)
	return h.run()
}

func (h *house) count(sql string, args ...any) int {
	h.t.Helper()
	var n int
	h.ok(h.db.Owner.QueryRow(h.ctx(), sql, args...).Scan(&n))
	return n
}
