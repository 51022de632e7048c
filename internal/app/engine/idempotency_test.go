package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestIdempotencyKey_MakesItHappenOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.Subscribe(studio.AddMember("Mia"), studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))

	first, repeated, err := testkit.GrantOne(t, studio, studio.Owner, s, "k", "p", "one")
	must.True(t, err == nil && !repeated, must.Sprint(repeated, err))
	again, repeated, err := testkit.GrantOne(t, studio, studio.Owner, s, "k", "p", "one")
	must.True(t, err == nil && repeated, must.Sprint(repeated, err))
	test.Eq(t, first, again, test.Sprint("answers differ"))
	must.EqOp(t, 6, studio.Balance(s), must.Sprint("balance"))

	_, repeated, err = testkit.GrantOne(t, studio, studio.Owner, s, "k", "p", "another")
	expect.Reason(t, fault.IdempotencyConflict)(err)
	test.True(t, !repeated && studio.Balance(s) == 6, test.Sprint("a conflict is no repetition, and has no effect"))

	// Another procedure, another spelling or another caller makes it a different key.
	for _, other := range []struct {
		by              tenant.Caller
		text, procedure string
	}{{studio.Owner, "k", "q"}, {studio.Owner, "K", "p"}, {studio.Coach, "k", "p"}} {
		if _, repeated, err := testkit.GrantOne(t, studio, other.by, s, other.text, other.procedure, "another"); err != nil ||
			repeated {
			t.Errorf("%s %s: %v %v", other.text, other.procedure, repeated, err)
		}
	}
	test.EqOp(t, 9, studio.Balance(s), test.Sprint("balance"))
	there := studio.OtherTenant()
	ctx, key := testkit.WithKey(t, "k", "p", "another")
	// The same person, by id, in another tenant.
	by := there.Owner
	by.Member = studio.Owner.Member
	if _, err := there.App.Catalog.CreatePlan(ctx, by, credit.Plan{Name: "Plan", Kind: credit.Unlimited}); err != nil ||
		key.Repeated {
		t.Error(key.Repeated, err)
	}
}

// Callers who use the same key, in one transaction or in two, each get the answer to their own request.
func TestIdempotencyKey_IsOfOneCaller(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class := studio.AddSession(testkit.Session{Capacity: 9})
	callers := []tenant.Caller{studio.AddMember("Mia"), studio.AddMember("Noa")}
	batch := studio.NewBatch()
	var made [2]seats.Place
	for i, who := range callers {
		batch.Add(func() {
			ctx, key := testkit.WithKey(t, "k", "p", "one")
			made[i] = expect.Value(batch.App.Bookings.Book(
				ctx, who, bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online},
			))(t)
			test.False(t, key.Repeated, test.Sprintf("caller %d: repeated %v", i, key.Repeated))
		})
	}
	test.EqOp(t, 1, batch.Run(), test.Sprint("transactions"))
	for i, who := range callers {
		ctx, key := testkit.WithKey(t, "k", "p", "one")
		again := expect.Value(studio.App.Bookings.Book(
			ctx, who, bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online},
		))(t)
		test.True(
			t, key.Repeated && again.Booking.ID == made[i].Booking.ID && again.Booking.Member == who.Member,
			test.Sprintf("caller %d again: %+v", i, again.Booking),
		)
	}
}

func TestIdempotencyKey_ExpiresAfterADay(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.Subscribe(studio.AddMember("Mia"), studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	for _, step := range []struct {
		after   time.Duration
		content string
		again   bool
		balance int
	}{
		{0, "one", false, 6},
		{24*time.Hour - time.Microsecond, "one", true, 6},
		{24 * time.Hour, "two", false, 7}, // nothing is left of what it stood for
		{48*time.Hour - time.Microsecond, "two", true, 7},
	} {
		studio.Clock.Set(testkit.Noon.Add(step.after))
		_, repeated, err := testkit.GrantOne(t, studio, studio.Owner, s, "k", "p", step.content)
		test.True(
			t, err == nil && repeated == step.again && studio.Balance(s) == step.balance,
			test.Sprintf("after %v: repeated %v, balance %d, %v", step.after, repeated, studio.Balance(s), err),
		)
	}
	kept := func() int {
		return studio.Count(`select count(*) from idempotency_keys where tenant_id = $1`, studio.Tenant)
	}
	if _, err := studio.App.Housekeeping.SweepTenant(t.Context(), studio.Tenant); err != nil || kept() != 1 {
		t.Errorf("%d keys are kept, %v", kept(), err)
	}
	studio.Clock.Set(testkit.Noon.Add(48 * time.Hour))
	if _, err := studio.App.Housekeeping.SweepTenant(t.Context(), studio.Tenant); err != nil || kept() != 0 {
		t.Errorf("%d keys are kept, %v", kept(), err)
	}
}

// What is refused uses no key up.
func TestIdempotencyKey_IsReturnedByRefusals(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	session := studio.AddSession(testkit.Session{State: catalog.Draft})
	book := func() (seats.Place, error) {
		ctx, _ := testkit.WithKey(t, "k", "book", "")
		return studio.App.Bookings.Book(ctx, mia, bookings.BookRequest{Session: session, Party: 1, Channel: catalog.Online})
	}
	_, err := book()
	must.Error(t, err, must.Sprint("a draft was booked"))
	expect.OK(t)(studio.App.Schedules.PublishSession(t.Context(), studio.Owner, session, nil))
	place := expect.Value(book())(t)
	must.NotNil(t, place.Booking, must.Sprint(place))
}

// A use case that loads nothing would fail by its own earlier work, if its key did not come first.
func TestIdempotencyKey_WinsOverConstraints(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	create := func(ctx context.Context) (credit.Plan, error) {
		return studio.App.Catalog.CreatePlan(
			ctx, studio.Owner, credit.Plan{Name: "Ten", Kind: credit.Credits, Credits: 10, Period: new(30 * 24 * time.Hour)},
		)
	}
	ctx, _ := testkit.WithKey(t, "k", "p", "")
	first := expect.Value(create(ctx))(t)
	again := expect.Value(create(ctx))(t)
	test.Eq(t, first, again, test.Sprint("answers differ"))
	_, err := create(t.Context())
	test.EqOp(t, fault.AlreadyExistsReason, fault.ReasonOf(err), test.Sprintf("without the key: %v", err))
}

// All who come with the same key at once get the answer of the one that had an effect.
func TestIdempotencyKey_ConcurrentRequestsHappenOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	session := studio.AddSession(testkit.Session{Capacity: -1})
	guest := bookings.BookRequest{
		Session: session, Party: 1, Channel: catalog.Phone, Guest: true, Hold: true, Contact: booking.Contact{Name: "Kim"},
	}

	const callers = 1000
	places := make([]seats.Place, callers)
	repeated := make([]bool, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			ctx, key := testkit.WithKey(t, "k", "hold", "Kim")
			var err error
			if places[i], err = studio.App.Bookings.Book(ctx, studio.Owner, guest); err != nil {
				t.Error(err)
			}
			repeated[i] = key.Repeated
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	firsts := 0
	for i := range callers {
		if !repeated[i] {
			firsts++
		}
		must.Eq(t, places[0], places[i], must.Sprint("answers differ"))
	}
	n := studio.Count(`select count(*) from bookings where session_id = $1`, session)
	test.True(t, n == 1 && firsts == 1, test.Sprintf("%d bookings, %d had an effect", n, firsts))

	// Without a key each is one of its own.
	const few = 20
	for range few {
		all.Go(func() {
			_, err := studio.App.Bookings.Book(t.Context(), studio.Owner, guest)
			test.NoError(t, err)
		})
	}
	all.Wait()
	test.EqOp(t, 1+few, studio.Count(`select count(*) from bookings where session_id = $1`, session),
		test.Sprint("bookings"))
}

func TestIdempotencyKey_NeverReplaysSecrets(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ctx, _ := testkit.WithKey(t, "k", "account", "")
	create := func() (grant.ServiceAccount, string) {
		account, text, err := studio.App.Accounts.CreateServiceAccount(
			ctx, studio.Owner, grant.ServiceAccount{Name: "Till", Roles: []string{tenant.RolePartner}},
		)
		must.NoError(t, err)
		return account, text
	}
	account, text := create()
	same, none := create()
	diff := cmp.Diff(account, same)
	test.True(t, diff == "" && text != "" && none == "", test.Sprintf("keys %q and %q\n%s", text, none, diff))
	test.EqOp(t, 0, studio.Count(`select count(*) from idempotency_keys where answer::text like '%' || $1 || '%'`, text),
		test.Sprint("the key is kept"))
}

func TestIdempotencyKey_CoversAnImport(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	file := []byte("name,email\nMia,mia@example.com\nNoa,noa@example.com\n")
	load := func(ctx context.Context) (accounts.MemberImport, error) {
		return studio.App.Accounts.ImportMembers(ctx, studio.Owner, file, false, func(member.Progress) error { return nil })
	}
	ctx, key := testkit.WithKey(t, "k", "import", "")
	first := expect.Value(load(ctx))(t)
	must.True(t, first.Imported == 2 && !key.Repeated, must.Sprint(first, key.Repeated))
	again := expect.Value(load(ctx))(t)
	test.True(t, again == first && key.Repeated, test.Sprint(again, key.Repeated))
	other := expect.Value(load(t.Context()))(t)
	test.EqOp(t, 2, other.Wrong, test.Sprint("without the key:", other))
}

// lossy breaks the connection over which the next message goes that contains a text, when the server has dealt with it.
type lossy struct{ text atomic.Pointer[string] }

func (l *lossy) dial(c *pg.Config) {
	c.Dial = func(ctx context.Context, kind, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, kind, addr)
		return lossyConn{conn, l}, err
	}
}

type lossyConn struct {
	net.Conn
	*lossy
}

func (c lossyConn) Write(p []byte) (int, error) {
	text := c.text.Load()
	if text == nil || !bytes.Contains(p, []byte(*text)) || !c.text.CompareAndSwap(text, nil) {
		return c.Conn.Write(p)
	}
	defer c.Close()
	n, err := c.Conn.Write(p)
	_, _ = io.ReadFull(c.Conn, make([]byte, 1)) // the answer comes in one piece, behind the commit
	return n, err
}

// If the connection breaks during COMMIT, the outcome is unknown. The idempotency key tells it.
func TestIdempotencyKey_ResolvesUnknownCommits(t *testing.T) {
	t.Parallel()
	var l lossy
	studio := testkit.New(t, l.dial)
	s := studio.Subscribe(studio.AddMember("Mia"), studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))

	l.text.Store(new("a gift"))
	line, _, err := testkit.GrantOne(t, studio, studio.Owner, s, "k", "p", "one")
	must.NoError(t, err)
	must.Nil(t, l.text.Load(), must.Sprint("no connection was broken"))
	test.True(
		t, line.Balance == 6 && studio.Balance(s) == 6,
		test.Sprintf("the line says %d, the subscription %d", line.Balance, studio.Balance(s)),
	)

	l.text.Store(new("a gift"))
	_, _, err = studio.App.Accounts.GrantCredits(
		t.Context(), studio.Owner, s.ID, 1, "a gift",
	)
	test.ErrorIs(t, err, pg.ErrCommitUnknown, test.Sprint("without a key"))
}

// An answer that is kept comes back as it was: nothing of it is lost on its way through JSON.
func TestStoredAnswers_SurviveJSON(t *testing.T) {
	t.Parallel()
	for _, answer := range []any{
		seats.Place{}, seats.Cancelled{}, bookings.RescheduleResult{}, schedules.CancelledSession{}, schedules.BulkResult{},
		schedules.SeriesEditResult{}, schedules.SessionImport{}, accounts.MemberImport{},
		bookings.CheckInResult{}, booking.Booking{}, booking.Item{}, booking.BenefitProvider{}, catalog.Tenant{},
		catalog.Location{}, catalog.Resource{},
		catalog.Service{}, catalog.Effective{}, credit.Plan{}, credit.Subscription{}, credit.Entry{}, grant.ServiceAccount{},
		grant.Role{},
		member.Member{}, member.Device{}, session.Session{}, session.Series{}, session.Workout{}, []tenant.SessionID{},
		[]string{}, time.Time{},
	} {
		kind := reflect.TypeOf(answer)
		for _, whole := range []bool{true, false} {
			kept, back := reflect.New(kind), reflect.New(kind)
			if whole {
				fill(t, kind.String(), kept.Elem())
			}
			text, err := json.Marshal(kept.Interface())
			if err == nil {
				err = json.Unmarshal(text, back.Interface())
			}
			if err != nil {
				t.Errorf("%v: %v", kind, err)
			} else if diff := cmp.Diff(kept.Interface(), back.Interface()); diff != "" {
				t.Errorf("%v:\n%s", kind, diff)
			}
		}
	}
}

// fill gives every part of a value something that is not zero.
func fill(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch into := v.Addr().Interface().(type) {
	case *time.Time:
		*into = testkit.Noon.Add(time.Microsecond)
		return
	case *civil.Date:
		*into = civil.DateOf(testkit.Noon, time.UTC)
		return
	case *civil.TimeOfDay:
		*into = civil.TimeOfDay{Hour: 12, Minute: 30}
		return
	case *tenant.UUID:
		*into = testkit.NewID[tenant.MemberID]().UUID
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			must.True(t, field.IsExported(), must.Sprintf("%s.%s is lost", name, field.Name))
			fill(t, name+"."+field.Name, v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, name, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, name, v.Index(0))
		fill(t, name, v.Index(1))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, name, key)
		fill(t, name, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("text <&> \x00")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(52.51)
	default:
		t.Fatalf("%s: a %v is lost", name, v.Type())
	}
}
