package idempotency_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/imports"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A repeated request has no effect, and gets the answer of the first, for a day. Another request, also of another
// procedure, is refused. Another spelling or another caller makes it a different key.
func TestIdempotencyKey_MakesItHappenOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.Subscribe(studio.AddMember("Mia"), studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	const day, none, conflict = 24 * time.Hour, -1, fault.IdempotencyConflict
	answers := make(map[int]credit.Line)
	for i, step := range []struct {
		after                    time.Duration
		by                       tenant.Caller
		text, procedure, content string
		balance                  int
		again                    int // the step of which it gets the answer
		reason                   fault.Reason
	}{
		{0, studio.Owner, "k", "p", "one", 6, none, ""},
		{0, studio.Owner, "k", "p", "one", 6, 0, ""},
		{0, studio.Owner, "k", "p", "another", 6, none, conflict},
		{0, studio.Owner, "k", "q", "one", 6, none, conflict},
		{0, studio.Owner, "K", "p", "another", 7, none, ""},
		{0, studio.Coach, "k", "p", "another", 8, none, ""},
		{day - time.Microsecond, studio.Owner, "k", "p", "one", 8, 0, ""},
		{day, studio.Owner, "k", "p", "two", 9, none, ""}, // nothing is left of what it stood for
		{2*day - time.Microsecond, studio.Owner, "k", "p", "two", 9, 7, ""},
	} {
		studio.Clock.Set(testkit.Noon.Add(step.after))
		line, repeated, err := testkit.GrantOne(t, studio, step.by, s, step.text, step.procedure, step.content)
		test.EqOp(t, step.reason, fault.ReasonOf(err), test.Sprintf("step %d: %v", i, err))
		test.EqOp(t, step.again != none, repeated, test.Sprintf("step %d", i))
		test.EqOp(t, step.balance, studio.Balance(s), test.Sprintf("step %d", i))
		if answers[i] = line; repeated {
			test.Eq(t, answers[step.again], line)
		}
	}
	for kept := 1; kept >= 0; kept-- {
		expect.OK(t)(studio.App.Housekeeping.SweepTenant(t.Context(), studio.Tenant))
		test.EqOp(t, kept, studio.Count(`select count(*) from idempotency_keys where tenant_id = $1`, studio.Tenant))
		studio.Clock.Set(testkit.Noon.Add(2 * day))
	}
	there := studio.OtherTenant()
	ctx, key := testkit.WithKey(t, "k", "p", "another")
	// The same person, by id, in another tenant.
	by := there.Owner
	by.Member = studio.Owner.Member
	expect.OK(t)(there.App.Catalog.CreatePlan(ctx, by, credit.Plan{Name: "Plan", Kind: credit.Unlimited}))
	test.False(t, key.Repeated)
}

// Callers who use the same key, in one transaction or in two, each get the answer to their own request.
func TestIdempotencyKey_IsOfOneCaller(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class := studio.AddSession(testkit.Session{Capacity: 9})
	callers := []tenant.Caller{studio.AddMember("Mia"), studio.AddMember("Noa")}
	batch := studio.NewBatch()
	var made [2]seats.Result
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
		test.True(t, key.Repeated, test.Sprintf("caller %d again: %+v", i, again.Booking))
		test.EqOp(t, made[i].Booking.ID, again.Booking.ID, test.Sprintf("caller %d again: %+v", i, again.Booking))
		test.EqOp(t, who.Member, again.Booking.Member, test.Sprintf("caller %d again: %+v", i, again.Booking))
	}
}

// What is refused uses no key up.
func TestIdempotencyKey_IsReturnedByRefusals(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	session := studio.AddSession(testkit.Session{State: catalog.Draft})
	book := func() (seats.Result, error) {
		ctx, _ := testkit.WithKey(t, "k", "book", "")
		return studio.App.Bookings.Book(ctx, mia, bookings.BookRequest{Session: session, Party: 1, Channel: catalog.Online})
	}
	must.Error(t, expect.Error(book()), must.Sprint("a draft was booked"))
	expect.OK(t)(studio.App.Schedules.PublishSession(t.Context(), studio.Owner, session, nil))
	result := expect.Value(book())(t)
	must.NotNil(t, result.Booking, must.Sprint(result))
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
	test.Eq(t, first, expect.Value(create(ctx))(t), test.Sprint("answers differ"))
	expect.Reason(t, fault.AlreadyExistsReason)(create(t.Context()))
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
	results, repeated := make([]seats.Result, callers), make([]bool, callers)
	testkit.Parallel(callers, func(i int) {
		ctx, key := testkit.WithKey(t, "k", "hold", "Kim")
		var err error
		results[i], err = studio.App.Bookings.Book(ctx, studio.Owner, guest)
		test.NoError(t, err)
		repeated[i] = key.Repeated
	})
	must.Eq(t, slices.Repeat(results[:1], callers), results, must.Sprint("answers differ"))
	test.EqOp(
		t, callers-1, len(slices.DeleteFunc(repeated, func(again bool) bool { return !again })), test.Sprint("repetitions"),
	)
	made := `select count(*) from bookings where session_id = $1`
	test.EqOp(t, 1, studio.Count(made, session), test.Sprint("bookings"))

	// Without a key each is one of its own.
	const few = 20
	test.NoError(t, errors.Join(testkit.ParallelErrors(few, func(int) error {
		return expect.Error(studio.App.Bookings.Book(t.Context(), studio.Owner, guest))
	})...))
	test.EqOp(t, 1+few, studio.Count(made, session), test.Sprint("bookings"))
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
	test.EqOp(t, "", diff, test.Sprintf("keys %q and %q\n%s", text, none, diff))
	test.NotEqOp(t, "", text, test.Sprintf("keys %q and %q\n%s", text, none, diff))
	test.EqOp(t, "", none, test.Sprintf("keys %q and %q\n%s", text, none, diff))
	test.EqOp(t, 0, studio.Count(`select count(*) from idempotency_keys where answer::text like '%' || $1 || '%'`, text),
		test.Sprint("the key is kept"))
}

func TestIdempotencyKey_CoversAnImport(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	file := []byte("name,email\nMia,mia@example.com\nNoa,noa@example.com\n")
	load := func(ctx context.Context) (fileimport.Import, error) {
		return studio.App.Imports.ImportMembers(ctx, studio.Owner, imports.Request{File: file})
	}
	ended := func(started fileimport.Import) fileimport.Import {
		must.NoError(t, studio.App.Imports.RunDue(t.Context(), studio.Tenant))
		return expect.Value(studio.App.Imports.GetImport(t.Context(), studio.Owner, started.ID, false))(t)
	}
	ctx, key := testkit.WithKey(t, "k", "import", "")
	first := expect.Value(load(ctx))(t)
	must.False(t, key.Repeated, must.Sprint(first, key.Repeated))
	test.EqOp(t, 2, ended(first).Created)
	again := expect.Value(load(ctx))(t)
	test.Eq(t, first, again)
	test.True(t, key.Repeated, test.Sprint(again, key.Repeated))
	test.EqOp(t, 2, ended(expect.Value(load(t.Context()))(t)).Invalid, test.Sprint("without the key"))
}

// If the connection breaks during COMMIT, the outcome is unknown. The idempotency key tells it.
func TestIdempotencyKey_ResolvesUnknownCommits(t *testing.T) {
	t.Parallel()
	var n pgtest.Network
	studio := testkit.New(t, n.Use)
	s := studio.Subscribe(studio.AddMember("Mia"), studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	n.Break(pgtest.Cut{Text: "a gift", Deliver: true})
	line, _, err := testkit.GrantOne(t, studio, studio.Owner, s, "k", "p", "one")
	must.NoError(t, err)
	must.True(t, n.Broke(), must.Sprint("no connection was broken"))
	test.EqOp(t, 6, line.Balance)
	test.EqOp(t, 6, studio.Balance(s))

	n.Break(pgtest.Cut{Text: "a gift", Deliver: true})
	err = expect.Error(studio.App.Accounts.GrantCredits(t.Context(), studio.Owner, s.ID, 1, "a gift"))
	test.ErrorIs(t, err, pg.ErrCommitUnknown, test.Sprint("without a key"))
}

// An answer that is kept comes back as it was: nothing of it is lost on its way through JSON.
func TestStoredAnswers_SurviveJSON(t *testing.T) {
	t.Parallel()
	for _, answer := range []any{
		seats.Result{}, seats.CancelResult{}, bookings.RescheduleResult{}, schedules.CancelledSession{},
		schedules.BulkResult{},
		schedules.SeriesEditResult{}, fileimport.Import{},
		bookings.CheckInResult{}, booking.Booking{}, booking.Item{}, booking.BenefitProvider{}, catalog.Tenant{},
		catalog.Location{}, catalog.Resource{},
		catalog.Service{}, catalog.EffectivePolicy{}, credit.Plan{}, credit.Subscription{}, credit.Line{},
		grant.ServiceAccount{},
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
			test.NoError(t, json.Unmarshal(expect.Value(json.Marshal(kept.Interface()))(t), back.Interface()))
			test.Eq(t, kept.Interface(), back.Interface(), test.Sprint(kind))
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
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, name, v.Index(0))
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
