package main

import (
	"encoding/base64"
	"fmt"
	"maps"
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

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/pgproxy"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// pendingWork is the SQL of background work that is left: filling seats after an edit of the rules, and messages, which
// can restart the window of an offer.
const pendingWork = `
select exists (select from policies where tenant_id = $1 and rules_due)
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
		name := pgx.Identifier{table}.Sanitize()
		all = append(all, fmt.Sprintf("select '%s', %s from %s x where tenant_id = $1", table, aggregate, name))
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
	numbers = regexp.MustCompile(`"(year|month|day|hours|minutes|seconds|nanos|version|rulesVersion)": ?\d+`)
	secrets = regexp.MustCompile(`berth_\w+`)
	marks   = regexp.MustCompile(`"(etag|nextPageToken|cursor|endCursor)": ?"[^"]+"`)
	signed  = regexp.MustCompile(`\bA[\w-]{37,}`) // of links, in base64
)

// shape is an outcome without the values that differ between two equal objects.
func (o outcome) shape() outcome {
	clean := func(text string) string {
		// First: random text can look like a serial.
		text = signed.ReplaceAllString(secrets.ReplaceAllString(text, "<secret>"), "<signed>")
		text = times.ReplaceAllString(uuids.ReplaceAllString(serials.ReplaceAllString(text, "<text>"), "<id>"), "<time>")
		text = numbers.ReplaceAllString(text, `"$1":0`)
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

// ignoredIDs are in messages that are used for reading and writing. Writing ignores them.
var ignoredIDs = map[string]bool{
	"MemberService/CreateMember member.id": true, "MemberService/UpdateMe member.id": true,
	"TenantService/CreateLocation location.id": true, "TenantService/CreateResource resource.id": true,
	"TenantService/CreateService service.id":            true,
	"TenantService/UpdateResource resource.location_id": true, "TenantService/UpdateTenant tenant.id": true,
}

// mismatchReasons are the reasons for ids that exist but do not fit.
var mismatchReasons = map[protoreflect.Name]string{
	"coach_id": "COACH_INVALID", "item_id": "ITEM_UNAVAILABLE", "booking_item_ids": "INVALID_FIELD",
}

// In every request, each string, most importantly each id, is replaced by the one of another tenant, with a token for
// both tenants. The response must equal that for a value that does not exist. It must not reveal or change anything of
// the other tenant. Policies of the database and terms of the statements both isolate tenants: each must do so alone.
func TestEveryRPC_RevealsAndChangesNothingOfAnotherTenant(t *testing.T) {
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

func (s *isolationTest) sweep(builds []build, foreign []proto.Message) {
	for _, at := range fieldRefsOf(s.p.Input()) {
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
			s.swap(at, b, theirs.String())
		}
		test.False(s.t, at.isID() && !filled, test.Sprintf("no request of the test fills in %s", at))
	}
	for _, b := range builds {
		request := b(s.ours)
		got := s.send(request)
		test.EqOp(s.t, codes.OK, got.Code, test.Sprintf("with all that is our own: %s", got))
		s.checkRevealsNothing(nil, got, "")
		if !s.p.IsReadOnly() || s.p.IsEndless() {
			continue
		}
		for _, at := range fieldRefsOf(s.p.Input()) { // a list without one of its filters
			if _, set := at.get(request); set && at.String() != "tenant_id" {
				s.checkRevealsNothing(at, s.send(at.without(request)), "")
			}
		}
	}
}

// swap sends a request with a string of another tenant, and with one that does not exist.
func (s *isolationTest) swap(at fieldRef, b build, theirs string) {
	s.t.Helper()
	absent := s.absentValue(at, theirs)
	if absent == theirs {
		return // too short to be unique
	}
	own, _ := at.get(b(s.ours))
	lists := [][]string{nil}
	if at.leaf().IsList() && at.isID() {
		lists = append(lists, []string{own.String()}) // also together with an id of the caller's tenant
	}
	for _, others := range lists {
		variant := func(text string) outcome {
			request := b(s.ours)
			var values []protoreflect.Value
			for range others {
				mine, _ := at.get(request)
				values = append(values, mine)
			}
			return s.send(at.with(request, append(values, protoreflect.ValueOfString(text))...))
		}
		got, want := variant(theirs), variant(absent)
		test.EqOp(
			s.t, "", cmp.Diff(want.shape(), got.shape()),
			test.Sprintf("%s: an absent value (-) and another tenant's (+) have different outcomes:\n", at),
		)
		s.checkRevealsNothing(at, got, theirs)
		if !at.isID() {
			continue
		}
		ignored := ignoredIDs[s.p.Short()+" "+at.String()]
		chosen := s.p.IsReadOnly() || at[0].Name() == "filter" // which may match nothing
		missing := got.Code == codes.NotFound || got.Reason == mismatchReasons[at.leaf().Name()]
		test.False(
			s.t, !missing && (got.Code != codes.OK || !chosen && !ignored), test.Sprintf("%s of another tenant: %s", at, got),
		)
		test.False(s.t, ignored && got.Code != codes.OK, test.Sprintf("%s is ignored no more: %s", at, got))
		if chosen && others == nil && got.Code == codes.OK && !s.p.IsEndless() {
			s.checkEmpty(at, got, b)
		}
	}
}

// checkEmpty fails if a filter with a value of another tenant matches data of the caller's tenant.
func (s *isolationTest) checkEmpty(at fieldRef, got outcome, b build) {
	s.t.Helper()
	ours := s.send(b(s.ours))
	test.True(s.t, ours.shape().Response != got.shape().Response, test.Sprintf("%s makes no difference: %s", at, got))
}

// absentValue returns a string of the same kind that no object has.
func (s *isolationTest) absentValue(at fieldRef, text string) string {
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
func (s *isolationTest) checkRevealsNothing(at fieldRef, got outcome, sent string) {
	s.t.Helper()
	raw := got.String()
	for _, found := range append(uuids.FindAllString(raw, -1), serials.FindAllString(raw, -1)...) {
		test.False(
			s.t, s.secrets[found] && !strings.Contains(sent, found),
			test.Sprintf("%s: the answer tells %s of another tenant: %s", at, found, raw),
		)
	}
}

// send calls as the owner of one tenant. The token is valid for both tenants.
func (s *isolationTest) send(request proto.Message) outcome {
	s.t.Helper()
	request = proto.Clone(request)
	setTenantID(request, s.ours.ID)
	return s.live.try(s.t.Context(), s.token, s.p, request)
}

func setTenantID(request proto.Message, id tenant.TenantID) {
	m := request.ProtoReflect()
	m.Set(m.Descriptor().Fields().ByName("tenant_id"), protoreflect.ValueOfString(id.String()))
}

// A tenant that is not in the token is forbidden, whether it exists or not. Without a valid token every call fails.
// Neither changes anything.
func TestEveryRPC_NeedsATokenForTheTenant(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	ours, theirs := newWorld(t, live), newWorld(t, live)
	built := make(map[string]proto.Message)
	for _, p := range procedures() {
		if !p.IsPublic() {
			built[p.Short()] = requests[p.Short()][0](theirs)
		}
	}
	before := []map[string]string{live.rows(t, ours.ID), live.rows(t, theirs.ID)}
	good := ours.token(tenant.RoleOwner)
	unknown := tenant.New[tenant.TenantID](time.Now())
	forbidden := outcome{
		Code: codes.PermissionDenied, Reason: "TENANT_FORBIDDEN", Message: "The token is not valid for this tenant.",
	}
	for _, p := range procedures() {
		if p.IsPublic() {
			continue
		}
		for _, id := range []tenant.TenantID{theirs.ID, unknown} {
			request := proto.Clone(built[p.Short()])
			setTenantID(request, id)
			test.EqOp(
				t, "", cmp.Diff(forbidden, live.try(t.Context(), good, p, request)), test.Sprintf("%s in %s", p.Short(), id),
			)
		}
		for _, raw := range []string{"", "nonsense", strings.Repeat("x", 10_000), good + "x", good[:len(good)-20]} {
			live.try(t.Context(), raw, p, built[p.Short()]).
				has(t, "Unauthenticated UNAUTHENTICATED", p.Short(), " with the token ", raw[:min(len(raw), 20)])
		}
	}
	test.Eq(t, before, []map[string]string{live.rows(t, ours.ID), live.rows(t, theirs.ID)},
		test.Sprint("strangers have changed something"))
}

// checkClaimLinks checks that a claim link opens its offer, and that no other text does.
func checkClaimLinks(t *testing.T, live *liveNode, ours, theirs *world) {
	t.Helper()
	get, answer := procedureNamed(t, "WaitlistService/GetClaim"), procedureNamed(t, "WaitlistService/ClaimOffer")
	invalid := live.try(t.Context(), "", get, &v1.GetClaimRequest{Token: "nonsense"})
	invalid.has(t, "FailedPrecondition LINK_INVALID", "a link that is none")
	our, their := ours.claim(ours.newOffer(ours.newMember())), theirs.claim(theirs.newOffer(theirs.newMember()))
	ourRaw, _ := base64.RawURLEncoding.DecodeString(our)
	theirRaw, _ := base64.RawURLEncoding.DecodeString(their)
	for name, raw := range map[string][]byte{
		"their offer in our tenant": append(slices.Clone(ourRaw[:16]), theirRaw[16:]...),
		"our offer in theirs":       append(slices.Clone(theirRaw[:16]), ourRaw[16:]...),
		"another last bit":          append(slices.Clone(ourRaw[:31]), ourRaw[31]^1),
		"too short":                 ourRaw[:31],
		"too long":                  append(slices.Clone(ourRaw), 0),
	} {
		token := base64.RawURLEncoding.EncodeToString(raw)
		for _, got := range []outcome{
			live.try(t.Context(), "", get, &v1.GetClaimRequest{Token: token}),
			live.try(t.Context(), "", answer, &v1.ClaimOfferRequest{Token: token, Action: v1.ClaimAction_CLAIM_ACTION_ACCEPT}),
		} {
			test.Eq(t, invalid, got, test.Sprint(name))
		}
	}
	live.try(t.Context(), "", get, &v1.GetClaimRequest{Token: our}).has(t, "OK", "the link itself")
}

// A link without a token gives access to one object of one tenant, and to nothing else.
func TestPublicLinks_OpenOneObjectOnly(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	ours, theirs := newWorld(t, live), newWorld(t, live)
	exchange, display := procedureNamed(t, "AccessService/ExchangeKey"), procedureNamed(t, "CheckInService/GetDisplay")
	public := 0
	for _, p := range procedures() {
		if p.IsPublic() {
			public++
		}
	}
	test.EqOp(t, 4, public, test.Sprintf("%d RPCs are public; this test knows four", public))
	checkClaimLinks(t, live, ours, theirs)

	ourAccount, ourKey := ours.newKey()
	_, theirKey := theirs.newKey()
	invalid := live.try(t.Context(), "", exchange, &v1.ExchangeKeyRequest{Key: "berth_x"})
	invalid.has(t, "Unauthenticated KEY_INVALID", "a key that is none")
	for name, request := range map[string]*v1.ExchangeKeyRequest{
		"their key in our tenant":        {TenantId: text(ours.ID), Key: theirKey},
		"our key in theirs":              {TenantId: text(theirs.ID), Key: ourKey},
		"their key's id and our secret":  {Key: theirKey[:50] + ourKey[50:]},
		"a key with another last letter": {Key: ourKey[:len(ourKey)-1] + string('a'+(ourKey[len(ourKey)-1]+1)%8)},
		"a key in no tenant":             {TenantId: text(tenant.New[tenant.TenantID](time.Now())), Key: ourKey},
	} {
		test.Eq(t, invalid, live.try(t.Context(), "", exchange, request), test.Sprint(name))
	}
	got := call[*v1.ExchangeKeyResponse](t, live, "", "AccessService/ExchangeKey", &v1.ExchangeKeyRequest{Key: ourKey})
	test.EqOp(t, text(ours.ID), got.GetTenantId(), test.Sprint("our key opens"))
	call[*v1.ListSessionsResponse](
		t, live, got.GetAccessToken(), "SessionService/ListSessions",
		&v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: ours.month()}},
	)
	tenants := procedureNamed(t, "TenantService/GetTenant")
	live.try(t.Context(), got.GetAccessToken(), tenants, &v1.GetTenantRequest{TenantId: text(theirs.ID)}).
		has(t, "TENANT_FORBIDDEN", "our key's token in their tenant")
	call[*v1.RevokeServiceAccountResponse](t, live, ours.token(tenant.RoleOwner), "AccessService/RevokeServiceAccount",
		&v1.RevokeServiceAccountRequest{ServiceAccountId: text(ourAccount)})
	live.try(t.Context(), got.GetAccessToken(), tenants, &v1.GetTenantRequest{}).
		has(t, "PERMISSION_DENIED", "the token of an account that was revoked")
	test.Eq(t, invalid, live.try(t.Context(), "", exchange, &v1.ExchangeKeyRequest{Key: ourKey}),
		test.Sprint("the key of an account that was revoked"))

	link := requests["CheckInService/GetDisplay"][0](theirs).(*v1.GetDisplayRequest).GetToken()
	call[*v1.GetDisplayResponse](t, live, "", "CheckInService/GetDisplay", &v1.GetDisplayRequest{Token: link})
	for i := range link {
		for _, forged := range []string{link[:i], link[:i] + string(link[i]^1) + link[i+1:]} {
			if forged == "" {
				continue
			}
			got := live.try(t.Context(), "", display, &v1.GetDisplayRequest{Token: forged})
			must.True(
				t, got.Code != codes.OK && (got.Reason == "LINK_INVALID" || got.Reason == "INVALID_FIELD"),
				must.Sprintf("a link forged at %d: %s", i, got),
			)
		}
	}
}

// goldenMatrix reads the matrix of permissions, by RPC and column.
func goldenMatrix(t *testing.T, text string) map[string]map[string]string {
	t.Helper()
	fields := regexp.MustCompile(`\s{2,}`)
	var titles []string
	matrix := make(map[string]map[string]string)
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := fields.Split(strings.TrimSpace(line), -1)
		if titles == nil {
			titles = columns
			continue
		}
		row := make(map[string]string)
		for i, title := range titles {
			row[title] = columns[i]
		}
		matrix[row["rpc"]] = row
	}
	return matrix
}

// emptyRequests are the mutations whose requests can be empty.
var emptyRequests = map[string]bool{
	"NotificationService/CreateCalendarFeed": true, "NotificationService/VerifySendingDomain": true,
}

// Over the network, all callers can do what the matrix says. Other calls are denied and change nothing.
func TestEveryRPC_AllowsWhatTheMatrixSays(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	w := newWorld(t, live)
	matrix := goldenMatrix(t, readFile(t, "../internal/rpc/testdata/access.golden"))
	subjects := map[string]string{
		"owner": "owner", "admin": "admin", "coach": "coach", "member": "member", "partner": w.partner,
		"role without permissions": "idler", "inactive": "left", "stranger": "stranger",
	}
	tokens := make(map[string]string)
	for title, subject := range subjects {
		tokens[title] = w.token(subject)
	}
	built := w.buildAll()
	before := live.rows(t, w.ID)
	for _, p := range procedures() {
		row := matrix[p.Short()]
		if row == nil {
			t.Errorf("the matrix has no %s", p.Short())
			continue
		}
		for _, title := range slices.Sorted(maps.Keys(subjects)) {
			// An empty message is rejected for mutations, but only after the permission check.
			for _, request := range append([]proto.Message{p.NewRequest()}, built[p.Short()]...) {
				empty := proto.Size(request) == 0
				if row[title] != "-" && (!empty || emptyRequests[p.Short()]) {
					continue
				}
				got := live.try(t.Context(), tokens[title], p, request)
				denied := got.Reason == "PERMISSION_DENIED"
				test.EqOp(t, (row[title] == "-"), denied, test.Sprintf("%s as %s (%q): %s", p.Short(), title, row[title], got))
				test.False(
					t, row[title] == "-" && got.Code != codes.PermissionDenied, test.Sprintf("%s as %s: %s", p.Short(), title, got),
				)
			}
		}
	}
	test.Eq(t, before, live.rows(t, w.ID), test.Sprint("something has changed"))
}

// sharedFilters are the ids in filters that all members may use.
var sharedFilters = map[protoreflect.Name]bool{"session_id": true, "location_id": true}

// For callers with access to their own data, other members' data do not exist.
func TestSelfRPCs_HideDataOfOtherMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newLive(t))
	matrix := goldenMatrix(t, readFile(t, "../internal/rpc/testdata/access.golden"))
	// A partner owns what it created. Here it created nothing.
	for title, me := range map[string]string{"member": w.token(tenant.RoleMember), "partner": w.token(w.partner)} {
		t.Run(title, func(t *testing.T) {
			w.checkOwnDataOnly(t, me, func(p procedure) bool { return matrix[p.Short()][title] == "own" })
		})
	}
}

func (w *world) checkOwnDataOnly(t *testing.T, me string, own func(procedure) bool) {
	t.Helper()
	live, seen := w.live, 0
	for _, p := range procedures() {
		if !own(p) {
			continue
		}
		for _, b := range requests[p.Short()] {
			request := b(w) // about data of the owner or of another member
			if confirm, ok := request.(*v1.ConfirmBookingRequest); ok {
				confirm.Payment = nil // members may not record payments, whatever the booking
			}
			before := live.rows(t, w.ID)
			for _, at := range fieldRefsOf(p.Input()) {
				value, ok := at.get(request)
				if !ok || !at.isID() || ignoredIDs[p.Short()+" "+at.String()] {
					continue
				}
				seen++
				got := live.try(t.Context(), me, p, request)
				chosen := at[0].Name() == "filter" // which may match nothing
				if chosen && sharedFilters[at.leaf().Name()] {
					continue
				}
				none := at.with(request, protoreflect.ValueOfString(text(tenant.New[tenant.SessionID](time.Now()))))
				diff := cmp.Diff(live.try(t.Context(), me, p, none).shape(), got.shape())
				test.True(
					t, diff == "" && (got.Code == codes.NotFound || got.Code == codes.OK && chosen),
					test.Sprintf("%s of another's %s %s: %s\n%s", p.Short(), at, value, got, diff),
				)
			}
			if seen > 0 && !p.IsReadOnly() && p.Short() != "MemberService/UpdateMe" &&
				p.Short() != "MemberService/RegisterDevice" {
				test.EqOp(
					t, "", cmp.Diff(before, live.rows(t, w.ID)), test.Sprintf("%s has changed what is another's:\n", p.Short()),
				)
			}
		}
	}
	test.True(t, seen >= 5, test.Sprintf("only %d ids of other members' were tried", seen))
}
