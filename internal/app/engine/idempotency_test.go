package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
)

func TestIdempotencyKey_MakesItHappenOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	s := h.Subscribe(h.AddMember("Mia"), h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))

	first, repeated, err := testkit.GrantOne(t, h, h.Owner, s, "k", "p", "one")
	if err != nil || repeated {
		t.Fatal(repeated, err)
	}
	again, repeated, err := testkit.GrantOne(t, h, h.Owner, s, "k", "p", "one")
	if err != nil || !repeated {
		t.Fatal(repeated, err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("answers differ:\n%s", diff)
	}
	if got := h.Balance(s); got != 6 {
		t.Fatalf("balance %d", got)
	}

	_, repeated, err = testkit.GrantOne(t, h, h.Owner, s, "k", "p", "another")
	testkit.WantReason(t, err, fault.IdempotencyConflict)
	if repeated || h.Balance(s) != 6 {
		t.Error("a conflict is no repetition, and has no effect")
	}

	// The key is another one's elsewhere.
	for _, other := range []struct {
		by              tenant.Caller
		text, procedure string
	}{{h.Owner, "k", "q"}, {h.Owner, "K", "p"}, {h.Coach, "k", "p"}} {
		if _, repeated, err := testkit.GrantOne(t, h, other.by, s, other.text, other.procedure, "another"); err != nil ||
			repeated {
			t.Errorf("%s %s: %v %v", other.text, other.procedure, repeated, err)
		}
	}
	if got := h.Balance(s); got != 9 {
		t.Errorf("balance %d", got)
	}
	there := h.OtherTenant()
	ctx, key := testkit.WithKey(t, "k", "p", "another")
	// The same person, by id, in another tenant.
	by := there.Owner
	by.Member = h.Owner.Member
	if _, err := there.App.Catalog.CreatePlan(ctx, by, credit.Plan{Name: "Plan", Kind: credit.Unlimited}); err != nil ||
		key.Repeated {
		t.Error(key.Repeated, err)
	}
}

func TestIdempotencyKey_ExpiresAfterADay(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	s := h.Subscribe(h.AddMember("Mia"), h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
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
		h.Clock.Set(testkit.Noon.Add(step.after))
		_, repeated, err := testkit.GrantOne(t, h, h.Owner, s, "k", "p", step.content)
		if err != nil || repeated != step.again || h.Balance(s) != step.balance {
			t.Errorf("after %v: repeated %v, balance %d, %v", step.after, repeated, h.Balance(s), err)
		}
	}
	kept := func() int { return h.Count(`select count(*) from idempotency_keys where tenant_id = $1`, h.Tenant) }
	if _, err := h.App.Housekeeping.SweepTenant(t.Context(), h.Tenant); err != nil || kept() != 1 {
		t.Errorf("%d keys are kept, %v", kept(), err)
	}
	h.Clock.Set(testkit.Noon.Add(48 * time.Hour))
	if _, err := h.App.Housekeeping.SweepTenant(t.Context(), h.Tenant); err != nil || kept() != 0 {
		t.Errorf("%d keys are kept, %v", kept(), err)
	}
}

// What is refused uses no key up.
func TestIdempotencyKey_IsReturnedByRefusals(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	session := h.AddSession(testkit.Session{State: catalog.Draft})
	book := func() (seats.Place, error) {
		ctx, _ := testkit.WithKey(t, "k", "book", "")
		return h.App.Bookings.Book(ctx, mia, bookings.BookRequest{Session: session, Party: 1, Channel: catalog.Online})
	}
	_, err := book()
	if err == nil {
		t.Fatal("a draft was booked")
	}
	if _, err := h.App.Schedules.PublishSession(t.Context(), h.Owner, session, nil); err != nil {
		t.Fatal(err)
	}
	if place, err := book(); err != nil || place.Booking == nil {
		t.Fatal(place, err)
	}
}

// A use case that loads nothing would fail by its own earlier work, if its key did not come first.
func TestIdempotencyKey_WinsOverConstraints(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	create := func(ctx context.Context) (credit.Plan, error) {
		return h.App.Catalog.CreatePlan(
			ctx, h.Owner, credit.Plan{Name: "Ten", Kind: credit.Credits, Credits: 10, Period: new(30 * 24 * time.Hour)},
		)
	}
	ctx, _ := testkit.WithKey(t, "k", "p", "")
	first, err := create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	again, err := create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("answers differ:\n%s", diff)
	}
	if _, err := create(t.Context()); fault.ReasonOf(err) != fault.AlreadyExistsReason {
		t.Errorf("without the key: %v", err)
	}
}

// All who come with the same key at once get the answer of the one that had an effect.
func TestIdempotencyKey_ConcurrentRequestsHappenOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	session := h.AddSession(testkit.Session{Capacity: -1})
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
			if places[i], err = h.App.Bookings.Book(ctx, h.Owner, guest); err != nil {
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
		if diff := cmp.Diff(places[0], places[i]); diff != "" {
			t.Fatalf("answers differ:\n%s", diff)
		}
	}
	if n := h.Count(`select count(*) from bookings where session_id = $1`, session); n != 1 || firsts != 1 {
		t.Errorf("%d bookings, %d had an effect", n, firsts)
	}

	// Without a key each is one of its own.
	const few = 20
	for range few {
		all.Go(func() {
			if _, err := h.App.Bookings.Book(t.Context(), h.Owner, guest); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := h.Count(`select count(*) from bookings where session_id = $1`, session); n != 1+few {
		t.Errorf("%d bookings", n)
	}
}

func TestIdempotencyKey_NeverReplaysSecrets(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx, _ := testkit.WithKey(t, "k", "account", "")
	create := func() (grant.ServiceAccount, string) {
		account, text, err := h.App.Accounts.CreateServiceAccount(
			ctx, h.Owner, grant.ServiceAccount{Name: "Till", Roles: []string{tenant.RolePartner}},
		)
		if err != nil {
			t.Fatal(err)
		}
		return account, text
	}
	account, text := create()
	same, none := create()
	if diff := cmp.Diff(account, same); diff != "" || text == "" || none != "" {
		t.Errorf("keys %q and %q\n%s", text, none, diff)
	}
	if n := h.Count(`select count(*) from idempotency_keys where answer::text like '%' || $1 || '%'`, text); n != 0 {
		t.Error("the key is kept")
	}
}

func TestIdempotencyKey_CoversAnImport(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	file := []byte("name,email\nMia,mia@example.com\nNoa,noa@example.com\n")
	load := func(ctx context.Context) (accounts.MemberImport, error) {
		return h.App.Accounts.ImportMembers(ctx, h.Owner, file, false, func(member.Progress) error { return nil })
	}
	ctx, key := testkit.WithKey(t, "k", "import", "")
	first, err := load(ctx)
	if err != nil || first.Imported != 2 || key.Repeated {
		t.Fatal(first, key.Repeated, err)
	}
	if again, err := load(ctx); err != nil || again != first || !key.Repeated {
		t.Error(again, key.Repeated, err)
	}
	if other, err := load(t.Context()); err != nil || other.Wrong != 2 {
		t.Error("without the key:", other, err)
	}
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

// Nobody learns whether a transaction was committed whose connection broke at that moment; but its key tells.
func TestIdempotencyKey_ResolvesUnknownCommits(t *testing.T) {
	t.Parallel()
	var l lossy
	h := testkit.New(t, l.dial)
	s := h.Subscribe(h.AddMember("Mia"), h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))

	l.text.Store(new("a gift"))
	line, _, err := testkit.GrantOne(t, h, h.Owner, s, "k", "p", "one")
	if err != nil {
		t.Fatal(err)
	}
	if l.text.Load() != nil {
		t.Fatal("no connection was broken")
	}
	if line.Balance != 6 || h.Balance(s) != 6 {
		t.Errorf("the line says %d, the subscription %d", line.Balance, h.Balance(s))
	}

	l.text.Store(new("a gift"))
	if _, _, err := h.App.Accounts.GrantCredits(
		t.Context(), h.Owner, s.ID, 1, "a gift",
	); !errors.Is(err, pg.ErrCommitUnknown) {
		t.Errorf("without a key: %v", err)
	}
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
			if !field.IsExported() {
				t.Fatalf("%s.%s is lost", name, field.Name)
			}
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
