package main

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/berthhq/berth/internal/pgproxy"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// pendingWork is the SQL of background work that is left: filling seats after an edit of the rules or for members who
// were passed over, imports, messages, which can restart the window of an offer, and mails about signing in.
const pendingWork = `
select exists (select from policies where tenant_id = $1 and rules_due)
    or exists (select from members where tenant_id = $1 and recheck_at is not null)
    or exists (select from imports where tenant_id = $1 and due_at is not null)
    or exists (select from platform_mails where tenant_id = $1 and (attempts > 0 or due_at <= $2))
    or exists (select from notices where tenant_id = $1 and done_at is null and (sending or due_at <= $2))
    or exists (select from events e where e.tenant_id = $1 and not exists (
         select from event_consumers c
         where c.tenant_id = $1 and c.name = 'notices' and (c.xid, c.event_id) >= (e.xid, e.id)))`

// rows returns all data of a tenant by table, once no background work is left.
func (l *liveNode) rows(t *testing.T, id tenant.TenantID) map[string]string {
	t.Helper()
	eventually(t, "no background work is left", func() bool {
		var left bool
		return l.DB.Owner.QueryRow(t.Context(), pendingWork, id, time.Now()).Scan(&left) == nil && !left
	})
	return perTable[string](t, l, `coalesce(string_agg(x::text, E'\n' order by x::text), '')`, id)
}

// perTable returns an aggregate of a tenant's rows by table. In its SQL, a row is x.
func perTable[V any](t *testing.T, l *liveNode, aggregate string, id tenant.TenantID) map[string]V {
	t.Helper()
	var all []string
	for _, table := range l.tables(t) {
		all = append(all, fmt.Sprintf("select '%s', %s from %s x where tenant_id = $1",
			table, aggregate, pgx.Identifier{table}.Sanitize()))
	}
	found := expect.Value(l.DB.Owner.Query(t.Context(), strings.Join(all, " union all "), id))(t)
	values := make(map[string]V)
	var table string
	var value V
	expect.OK(t)(pgx.ForEachRow(found, []any{&table, &value}, func() error { values[table] = value; return nil }))
	return values
}

// tables returns the tables with data of tenants, without those that are written behind the answer, after events.
func (l *liveNode) tables(t *testing.T) []string {
	t.Helper()
	l.tablesOnce.Do(func() {
		found := expect.Value(l.DB.Owner.Query(t.Context(), `
select table_name from information_schema.columns where table_schema = 'public' and column_name = 'tenant_id'
and table_name not in ('event_consumers', 'notices', 'deliveries') order by 1`))(t)
		l.tenantTables = expect.Value(pgx.CollectRows(found, pgx.RowTo[string]))(t)
	})
	return l.tenantTables
}

var (
	uuids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	serials = regexp.MustCompile(`[nN][0-9]{6}`)
	times   = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)
	clocks  = regexp.MustCompile(`\{("(hours|minutes|seconds|nanos)": ?\d+,? ?)+\}`) // JSON leaves a zero out
	numbers = regexp.MustCompile(`"(year|month|day|version|rulesVersion)": ?\d+`)
	secrets = regexp.MustCompile(`berth_\w+`)
	marks   = regexp.MustCompile(`"(etag|token|nextPageToken|cursor|endCursor)": ?"[^"]+"`)
	signed  = regexp.MustCompile(`\bA[\w-]{37,}`) // of links, in base64
)

// shape is an outcome without the values that differ between two equal objects.
func (o outcome) shape() outcome {
	clean := func(text string) string {
		// First: random text can look like a serial.
		text = signed.ReplaceAllString(secrets.ReplaceAllString(text, "<secret>"), "<signed>")
		text = times.ReplaceAllString(uuids.ReplaceAllString(serials.ReplaceAllString(text, "<text>"), "<id>"), "<time>")
		text = numbers.ReplaceAllString(clocks.ReplaceAllString(text, "{}"), `"$1":0`)
		return marks.ReplaceAllString(text, `"$1":"<mark>"`)
	}
	o.Message, o.Response, o.Replayed = clean(o.Message), clean(o.Response), false
	metadata := make(map[string]string, len(o.Metadata))
	for key, value := range o.Metadata {
		metadata[key] = clean(value)
	}
	o.Metadata = metadata
	return o
}

// mismatchReasons are the reasons for ids that exist but do not fit.
var mismatchReasons = map[protoreflect.Name]string{
	"coach_id": "COACH_INVALID", "item_id": "ITEM_UNAVAILABLE", "booking_item_ids": "INVALID_FIELD",
}

// In every request, each string, most importantly each id, is replaced by the one of another tenant, with a token for
// both tenants. The response must equal that for a value that does not exist. It must not reveal or change anything of
// the other tenant. Policies of the database and terms of the statements both isolate tenants: each must do so alone.
func TestEveryRPC_RevealsAndChangesNothingOfAnotherTenant(t *testing.T) {
	withoutRaceDetector(t)
	t.Parallel()
	t.Run("by policies and statements", func(t *testing.T) {
		t.Parallel()
		testIsolation(t, newLive(t))
	})
	t.Run("by statements alone", func(t *testing.T) {
		t.Parallel()
		live := newLive(t)
		live.disablePolicies(t)
		testIsolation(t, live)
	})
	t.Run("by policies alone", func(t *testing.T) {
		t.Parallel()
		db := pgtest.New(t)
		testIsolation(t, openLive(t, db, withoutTenantTerms(t, db.TCP), t.TempDir()))
	})
}

// Without policies and without the terms of the statements, tenants are not isolated: the tests of each alone do turn
// the other off.
func TestIsolation_NeedsPoliciesOrStatements(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	live := openLive(t, db, withoutTenantTerms(t, db.TCP), t.TempDir())
	ours, theirs := newWorld(t, live), newWorld(t, live)
	get := func() outcome {
		request := requests["SessionService/GetSession"][0](theirs)
		setTenantID(request, ours.ID)
		return live.try(t.Context(), ours.token(tenant.RoleOwner), procedureNamed(t, "SessionService/GetSession"), request)
	}
	get().has(t, "NotFound", "a session of another tenant, with policies")
	live.disablePolicies(t)
	get().has(t, "OK", "a session of another tenant, without policies")
}

// disablePolicies turns row-level security off.
func (l *liveNode) disablePolicies(t *testing.T) {
	t.Helper()
	found := expect.Value(l.DB.Owner.Query(t.Context(), `
select format('alter table %I disable row level security', relname) from pg_class
where relnamespace = 'public'::regnamespace and relrowsecurity`))(t)
	statements := expect.Value(pgx.CollectRows(found, pgx.RowTo[string]))(t)
	must.True(t, len(statements) != 0, must.Sprint(len(statements)))
	// One by one: a transaction that locks several tables would deadlock with the node's.
	for _, statement := range statements {
		expect.OK(t)(l.DB.Owner.Exec(t.Context(), statement))
	}
}

var (
	tenantParameter = regexp.MustCompile(`\b(\w+\.)?tenant_id = (\$\d+)`)
	tenantTerm      = regexp.MustCompile(`\btenant_id\)? *(=|<|>|in\b|is\b)`)
	tenantJoin      = regexp.MustCompile(`\b(\w+\.)?tenant_id = \w+\.tenant_id`)
)

// withoutTenantTerms returns the URL of a proxy to Postgres that makes the comparisons of tenants in statements true.
func withoutTenantTerms(t *testing.T, postgres string) string {
	t.Helper()
	u := expect.Value(url.Parse(postgres))(t)
	p := expect.Value(pgproxy.Start(pgproxy.Config{Upstream: u.Host, Rewrite: func(sql string) string {
		sql = tenantJoin.ReplaceAllString(tenantParameter.ReplaceAllString(sql, "$2::uuid is not null"), "true")
		test.False(t, tenantTerm.MatchString(sql), test.Sprintf("a statement still compares tenants: %s", sql))
		return sql
	}}))(t)
	t.Cleanup(p.Close)
	u.Host = p.Address()
	return u.String()
}

func testIsolation(t *testing.T, live *liveNode) {
	t.Helper()
	ours, theirs := newWorld(t, live), newWorld(t, live)

	foreign := make(map[string][]proto.Message)
	for _, p := range procedures() {
		builds := requests[p.Short()]
		test.True(t, len(builds) != 0, test.Sprintf("%s has no request in this test", p.Short()))
		for _, b := range builds {
			foreign[p.Short()] = append(foreign[p.Short()], b(theirs))
		}
	}
	before := live.rows(t, theirs.ID)
	secretsOf := make(map[string]bool) // everything that would reveal the other tenant
	for _, text := range before {
		for _, found := range append(uuids.FindAllString(text, -1), serials.FindAllString(text, -1)...) {
			secretsOf[found] = true
		}
	}
	both := ours.token(tenant.RoleOwner, theirs)

	for _, p := range procedures() {
		if p.IsPublic() {
			continue
		}
		// Not in parallel: an RPC can change what another reads.
		t.Run(p.Short(), func(t *testing.T) {
			s := &isolationTest{t: t, live: live, p: p, ours: ours.in(t), token: both, secrets: secretsOf}
			s.sweep(requests[p.Short()], foreign[p.Short()])
		})
	}
	test.Eq(t, before, live.rows(t, theirs.ID), test.Sprint("the other tenant has changed"))
	for name := range requests {
		test.True(t, slices.ContainsFunc(procedures(), func(p procedure) bool { return p.Short() == name }),
			test.Sprintf("the contract has no %s", name))
	}
	live.verify(t)
}

// isolationTest is the state of the test of one RPC.
type isolationTest struct {
	t       *testing.T
	live    *liveNode
	p       procedure
	ours    *world
	token   string
	secrets map[string]bool
}

func (t *isolationTest) sweep(builds []build, foreign []proto.Message) {
	for _, at := range fieldRefsOf(t.p.Input()) {
		if at.leaf().Kind() != protoreflect.StringKind || at.String() == "tenant_id" {
			continue
		}
		filled := false
		for i, b := range builds {
			theirs, ok := at.get(foreign[i])
			if !ok {
				continue
			}
			filled = true
			t.swap(at, b, theirs.String())
		}
		test.False(t.t, at.isID() && !filled && at.isEditable(), test.Sprintf("no request of the test fills in %s", at))
	}
	for _, b := range builds {
		request := b(t.ours)
		got := t.send(request)
		test.EqOp(t.t, codes.OK, got.Code, test.Sprintf("with all that is our own: %s", got))
		t.checkRevealsNothing(nil, got, "")
		if !t.p.IsReadOnly() || t.p.IsEndless() {
			continue
		}
		for _, at := range fieldRefsOf(t.p.Input()) { // a list without one of its filters
			if _, set := at.get(request); set && at.String() != "tenant_id" {
				t.checkRevealsNothing(at, t.send(at.without(request)), "")
			}
		}
	}
}

// swap sends a request with a string of another tenant, and with one that does not exist.
func (t *isolationTest) swap(at fieldRef, b build, theirs string) {
	t.t.Helper()
	absent := t.absentValue(at, theirs)
	if absent == theirs {
		return // too short to be unique
	}
	own, _ := at.get(b(t.ours))
	lists := [][]string{nil}
	if at.leaf().IsList() && at.isID() {
		lists = append(lists, []string{own.String()}) // also together with an id of the caller's tenant
	}
	for _, others := range lists {
		variant := func(text string) outcome {
			request := b(t.ours)
			var values []protoreflect.Value
			for range others {
				mine, _ := at.get(request)
				values = append(values, mine)
			}
			return t.send(at.with(request, append(values, protoreflect.ValueOfString(text))...))
		}
		got, want := variant(theirs), variant(absent)
		test.EqOp(
			t.t, "", cmp.Diff(want.shape(), got.shape()),
			test.Sprintf("%s: an absent value (-) and another tenant's (+) have different outcomes:\n", at),
		)
		t.checkRevealsNothing(at, got, theirs)
		if !at.isID() {
			continue
		}
		chosen := t.p.IsReadOnly() || at[0].Name() == "filter" // which may match nothing
		missing := got.Code == codes.NotFound || got.Reason == mismatchReasons[at.leaf().Name()]
		test.False(
			t.t, !missing && (got.Code != codes.OK || !chosen), test.Sprintf("%s of another tenant: %s", at, got),
		)
		if chosen && others == nil && got.Code == codes.OK && !t.p.IsEndless() {
			t.checkEmpty(at, got, b)
		}
	}
}

// checkEmpty fails if a filter with a value of another tenant matches data of the caller's tenant.
func (t *isolationTest) checkEmpty(at fieldRef, got outcome, b build) {
	t.t.Helper()
	ours := t.send(b(t.ours))
	test.True(t.t, ours.shape().Response != got.shape().Response, test.Sprintf("%s makes no difference: %s", at, got))
}

// absentValue returns a string of the same kind that no object has.
func (t *isolationTest) absentValue(at fieldRef, text string) string {
	switch {
	case uuids.MatchString(text):
		return uuids.ReplaceAllString(text, tenant.New[tenant.SessionID](time.Now()).String())
	case serials.MatchString(text):
		return serials.ReplaceAllStringFunc(text, func(found string) string { return found[:1] + unique()[1:] })
	case at.String() == "qr_token":
		return text[:len(text)-4] + strings.Repeat("A", 4)
	default:
		return text
	}
}

// checkRevealsNothing fails if an outcome contains a string of the other tenant that was not in the request.
func (t *isolationTest) checkRevealsNothing(at fieldRef, got outcome, sent string) {
	t.t.Helper()
	raw := got.String()
	for _, found := range append(uuids.FindAllString(raw, -1), serials.FindAllString(raw, -1)...) {
		test.False(
			t.t, t.secrets[found] && !strings.Contains(sent, found),
			test.Sprintf("%s: the answer tells %s of another tenant: %s", at, found, raw),
		)
	}
}

// send calls as the owner of one tenant. The token is valid for both tenants.
func (t *isolationTest) send(request proto.Message) outcome {
	t.t.Helper()
	request = proto.Clone(request)
	setTenantID(request, t.ours.ID)
	return t.live.try(t.t.Context(), t.token, t.p, request)
}

func setTenantID(request proto.Message, id tenant.TenantID) {
	m := request.ProtoReflect()
	m.Set(m.Descriptor().Fields().ByName("tenant_id"), protoreflect.ValueOfString(id.String()))
}
