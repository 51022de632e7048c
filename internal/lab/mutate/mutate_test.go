package mutate

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// newModule writes a module with the given files, and returns its folder.
func newModule(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = "module example.test/m\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(root, name)
		must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

// mutantsOf returns the mutants that compile of a package with one file, as kind and new lines.
func mutantsOf(t *testing.T, folder, code string) []string {
	t.Helper()
	root := newModule(t, map[string]string{folder + "/a.go": code})
	all, sources, err := enumerate(t.Context(), root, []string{"./..."})
	must.NoError(t, err)
	var got []string
	for _, m := range all {
		if sources[m.Package].compiles(&m) {
			got = append(got, string(m.Kind)+": "+strings.Join(m.New, " "))
		}
	}
	return got
}

func TestMutants_ChangeGoCode(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		code string
		want []string
	}{
		"comparison and logic": {
			`func f(a, b int) bool { return a < b && b != 3 }`,
			[]string{
				"and/or exchanged: func f(a, b int) bool { return a < b || b != 3 }",
				"comparison shifted: func f(a, b int) bool { return a <= b && b != 3 }",
				"comparison shifted: func f(a, b int) bool { return a < b && b == 3 }",
				"constant moved: func f(a, b int) bool { return a < b && b != 4 }",
			},
		},
		"condition and guard": {
			"func f(ok bool) int {\nif ok {\nreturn 1\n}\nreturn 0\n}",
			[]string{
				"condition negated: if !(ok) {", "guard removed: ", "constant moved: return 2", "constant moved: return 0",
				"constant moved: return 1",
			},
		},
		"a guard leaves what the if begins with": {
			"func g() (n int, ok bool) { return }\nfunc f() {\nif n, ok := g(); ok {\n_ = n\nreturn\n}\nf()\n}",
			[]string{
				"condition negated: if n, ok := g(); !(ok) {", "guard removed: { n, ok := g(); _ = n; _ = ok }",
				"statement removed: ",
			},
		},
		"statements": {
			"func f(p *int) {\ndefer f(nil)\n*p = 2\n*p++\n*p += 3\n_ = p\n}",
			[]string{
				"statement removed: ", "statement removed: ", "constant moved: *p = 3", "operator exchanged: *p--",
				"statement removed: ", "statement removed: ", "operator exchanged: *p -= 3", "constant moved: *p += 4",
			},
		},
		"errors": {
			"func g() (n int, err error) { return }\nfunc f() (int, error) {\n" +
				"n, err := g()\nif err != nil {\nreturn 0, err\n}\nreturn n, err\n}",
			[]string{
				"guard removed: ", "comparison shifted: if err == nil {", "error dropped: return 0, nil",
				"error dropped: return n, nil",
			},
		},
		"a change may leave a name unused": {
			"import \"strings\"\nfunc f(s string) error {\nerr := g(s)\nreturn err\n}\n" +
				"func g(s string) error {\nf(s)\ns = strings.ToLower(s)\nreturn nil\n}",
			[]string{"error dropped: return nil", "statement removed: ", "statement removed: "},
		},
		"arguments of one type": {
			"func g(a, b string, n int) {}\nfunc f(x, y string) { g(x, y, 2); _ = min(1.0, 2.0) }",
			[]string{
				"statement removed: func f(x, y string) { ; _ = min(1.0, 2.0) }",
				"arguments swapped: func f(x, y string) { g(y, x, 2); _ = min(1.0, 2.0) }",
				"constant moved: func f(x, y string) { g(x, y, 3); _ = min(1.0, 2.0) }",
				"constant moved: func f(x, y string) { g(x, y, 2); _ = min((1+1.0), 2.0) }",
				"constant moved: func f(x, y string) { g(x, y, 2); _ = min(1.0, (1+2.0)) }",
			},
		},
		"arguments whose order is the same": {
			"import (\n\"cmp\"\n\"slices\"\n)\nfunc f(a, b []int) bool { return slices.Equal(a, b) }\n" +
				"func g(a, b error) error { return cmp.Or(a, b) }",
			[]string{"error dropped: func g(a, b error) error { return nil }"},
		},
		"a rune that is dropped": {
			`func f(rune) rune { return -1 }`, []string{"constant moved: func f(rune) rune { return -0 }"},
		},
		"a sentence for people": {
			"type t struct{}\nfunc (t) New(a, b any, text string) t { return t{} }\nfunc (t) Missing(a any, text string) {}\n" +
				"var fault t\nvar _ = fault.New(nil, nil, \"Gone.\")\nfunc f() { fault.Missing(nil, \"Role\") }",
			[]string{"statement removed: func f() {  }"},
		},
		"constants": {
			"import \"time\"\nconst (\na = true\nb = time.Hour\nc = 2 * time.Minute\nd = \"code\"\n)",
			[]string{
				"constant moved: a = false", "constant moved: b = (2*time.Hour)", "operator exchanged: c = 2 / time.Minute",
				"constant moved: c = 3 * time.Minute", "string emptied: d = \"\"",
			},
		},
		"wording is no code": {
			"import (\n\"errors\"\n\"fmt\"\n\"log/slog\"\n)\ntype t struct { A int `json:\"a\"` }\n" +
				"func f(a, b int) {\nslog.Info(\"x\", \"a\", a)\n_ = errors.New(\"y\")\n_ = fmt.Errorf(\"%d%d\", a, b)\n" +
				"_ = \"a text that people read\"\npanic(\"never\")\n}",
			[]string{"string emptied: panic(\"\")"},
		},
		"a value that is returned with an error is not looked at": {
			"import \"errors\"\nfunc f(n int) (int, error) {\n" +
				"_ = make([]int, 0, n+1)\n_ = make([]int, 0, 8)\nreturn 1, errors.New(\"x\")\n}",
			[]string{
				"constant moved: _ = make([]int, 1, n+1)", "operator exchanged: _ = make([]int, 0, n-1)",
				"constant moved: _ = make([]int, 0, n+2)", "constant moved: _ = make([]int, 0, n+0)",
				"constant moved: _ = make([]int, 1, 8)", "error dropped: return 1, nil",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := mutantsOf(t, "a", "package a\n"+tc.code)
			slices.Sort(got)
			slices.Sort(tc.want)
			test.Eq(t, tc.want, got)
		})
	}
}

// What makes a fault never returns nil, so the values that are returned with it do not matter.
func TestMutants_LeaveOutValuesWithAnError(t *testing.T) {
	t.Parallel()
	const code = "package fault\ntype Error struct{}\nfunc (*Error) Error() string { return `` }\n" +
		"func f() *Error { return new(Error) }\nfunc g() (int, error) { return 2, f() }"
	want := []string{"error dropped: func g() (int, error) { return 2, nil }"}
	test.Eq(t, want, mutantsOf(t, "internal/fault", code))
}

func TestMutants_LeaveOutGeneratedFiles(t *testing.T) {
	t.Parallel()
	code := "// Code generated by x. DO NOT EDIT.\n\npackage a\n\nconst a = 1\n"
	got := mutantsOf(t, "a", code)
	test.EqOp(t, 0, len(got), test.Sprintf("%q", got))
}

func TestMutants_ChangeSQLInGoCode(t *testing.T) {
	t.Parallel()
	code := "package a\nvar q = `select a from t where tenant_id = $1 and b < $2` + more\nvar more = \" order by b\"\n"
	want := []string{
		"sql: term dropped: var q = `select a from t where (true or (tenant_id = $1)) and b < $2` + more",
		"sql: comparison shifted: var q = `select a from t where tenant_id <> $1 and b < $2` + more",
		"sql: term dropped: var q = `select a from t where tenant_id = $1 and (true or (b < $2))` + more",
		"sql: comparison shifted: var q = `select a from t where tenant_id = $1 and b <= $2` + more",
		`sql: order changed: var more = " order by b desc"`,
	}
	test.Eq(t, want, mutantsOf(t, "internal/data/a", code))
	got := mutantsOf(t, "internal/rules/a", code)
	test.EqOp(t, 0, len(got), test.Sprintf("a package without SQL: %q", got))
}

func TestSQLChanges_ChangeOneThing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sql  string
		want []string
	}{
		"between is one term": {
			"where a between $1 and $2 and b = any($3)",
			[]string{
				"where (true or (a between $1 and $2)) and b = any($3)",
				"where a between $1 and $2 and (true or (b = any($3)))",
				"where a between $1 and $2 and b <> any($3)",
			},
		},
		"a term of an or is false": {
			"where (a is null or f(b, 2) >= c)",
			[]string{
				"where (true or ((a is null or f(b, 2) >= c)))", "where (a is not null or f(b, 2) >= c)",
				"where (a is null or (false and (f(b, 2) >= c)))", "where (a is null or f(b, 2) > c)",
			},
		},
		"assignments stay": {
			"update t set a = 1, b = case when c = 2 then 3 end where d is not null returning e",
			[]string{
				"update t set a = 1, b = case when (true or (c = 2)) then 3 end where d is not null returning e",
				"update t set a = 1, b = case when c <> 2 then 3 end where d is not null returning e",
				"update t set a = 1, b = case when c = 2 then 3 end where (true or (d is not null)) returning e",
				"update t set a = 1, b = case when c = 2 then 3 end where d is null returning e",
			},
		},
		"conflicts are no terms": {
			"on conflict (a) do update set b = excluded.b where t.b is distinct from excluded.b",
			[]string{"on conflict (a) do update set b = excluded.b where (true or (t.b is distinct from excluded.b))"},
		},
		"orders": {
			"order by tenant_id, a desc, lower(b) nulls last limit nullif($1, 0)",
			[]string{
				"order by tenant_id, a asc, lower(b) nulls last limit nullif($1, 0)",
				"order by tenant_id, lower(b) nulls last limit nullif($1, 0)",
				"order by tenant_id, a desc, lower(b) desc nulls last limit nullif($1, 0)",
				"order by tenant_id, a desc limit nullif($1, 0)",
				"order by tenant_id, a desc, lower(b) nulls last limit 1000000000 + (nullif($1, 0))",
			},
		},
		"locks": {
			"order by id for no key update of b skip locked",
			[]string{
				"order by id desc for no key update of b skip locked", "order by id ", "order by id for no key update of b ",
			},
		},
		"a part ends where the next literal goes on": {"and a = any(", []string{"and a <> any("}},
		"comments and strings": {
			"-- and a = b\nwhere x in ('and y = z')", []string{"-- and a = b\nwhere (true or (x in ('and y = z')))"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range sqlChanges(tc.sql) {
				got = append(got, string(apply([]byte(tc.sql), []edit{c.edit})))
			}
			test.Eq(t, tc.want, got)
		})
	}
}

func TestIsSQL_TellsStatementsFromSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"select a from t where b = $1": true, " and b.status = 'X'": true, "order by a": true, " limit 1": true,
		"offers from the waitlist and from staff": false, "and": false, "booking.create": false,
		"It is too late to %s: that was possible until %s hours before the start.": false,
	} {
		test.EqOp(t, want, isSQL(text), test.Sprintf("%q", text))
	}
}

func TestDraw_FollowsFromTheSeed(t *testing.T) {
	t.Parallel()
	order := func(seed uint64) (ids string, constants int) {
		var all []Mutant
		for i := range 90 {
			all = append(all, Mutant{ID: string(rune('a' + i)), Kind: Constant})
		}
		for i, kind := range []Kind{Guard, Failure, Logic, Condition, Text} {
			all = append(all, Mutant{ID: string(rune('A' + i)), Kind: kind}, Mutant{ID: string(rune('0' + i)), Kind: kind})
		}
		drawn := 0
		for m := range draw(seed, all) {
			if drawn++; drawn <= 20 && m.Kind == Constant {
				constants++
			}
			ids += m.ID
		}
		return ids, constants
	}
	one, constants := order(1)
	again, _ := order(1)
	test.EqOp(t, one, again, test.Sprintf("%s, then %s", one, again))
	other, _ := order(2)
	test.NotEqOp(t, one, other, test.Sprintf("seed 2: %s", other))
	test.EqOp(t, len(one), len(other), test.Sprintf("seed 2: %s", other))
	test.Between(t, 8, constants, 19, test.Sprint("of 20, of the most frequent kind"))
}

// code has a mutant for each verdict; its tests check the sign only.
var code = map[string]string{
	"a/a.go": `package a

func Sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

func Count(n int) int {
	i := 0
	for i < n {
		i++
	}
	return i
}

var Limit = 3
`,
	"a/a_test.go": `package a

import "testing"

func TestSign(t *testing.T) {
	t.Run("of two", func(t *testing.T) {
		if Sign(2) != 1 || Sign(-2) != -1 {
			t.Error("wrong")
		}
	})
}

func TestCount(t *testing.T) { Count(2) }

func TestBroken(t *testing.T) { t.Error("always") }
`,
}

func TestRun_JudgesMutantsAndContinues(t *testing.T) {
	t.Parallel()
	root, dir := newModule(t, maps.Clone(code)), t.TempDir()
	judge := func() map[string]string {
		results := expect.Value(Run(t.Context(), Options{
			Root: root, Packages: []string{"./..."}, Seed: 1, Count: 100, Jobs: 2, Dir: dir,
			Say: func(string) {}, Grace: 5 * time.Second,
		}))(t)
		verdicts := make(map[string]string)
		for _, r := range results {
			verdicts[string(r.Kind)+": "+strings.Join(r.New, " ")] = strings.TrimSpace(r.Verdict + " " + r.Killer)
		}
		return verdicts
	}
	killed := "killed a TestSign/of_two"
	want := map[string]string{
		"guard removed: ":                  killed,
		"condition negated: if !(n < 0) {": killed,
		"comparison shifted: if n <= 0 {":  "survived",
		"constant moved: if n < 1 {":       "survived",
		"operator exchanged: i--":          "timeout a",
	}
	got := judge()
	for mutant, verdict := range want {
		test.EqOp(t, verdict, got[mutant], test.Sprint(mutant))
	}
	before, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	must.NoError(t, err)
	test.Eq(t, got, judge(), test.Sprint("the second run (-first +second)"))
	if after, err := os.ReadFile(filepath.Join(dir, "results.jsonl")); err != nil || string(after) != string(before) {
		t.Errorf("the second run tested mutants again (%v)", err)
	}
}

// A run that may take no longer ends without an error, and its results so far count.
func TestRun_EndsAtItsLimit(t *testing.T) {
	t.Parallel()
	results, err := Run(t.Context(), Options{
		Root: newModule(t, maps.Clone(code)), Packages: []string{"./..."}, Count: 100, Limit: time.Nanosecond,
		Dir: t.TempDir(), Say: func(string) {},
	})
	test.NoError(t, err)
	test.SliceEmpty(t, results)
}

// Each fixed mutant is one change of the tree as it is now, and says which tests must kill it.
func TestFixed_FitTheTree(t *testing.T) {
	t.Parallel()
	root, err := rootOr(t.Context(), "")
	must.NoError(t, err)
	for _, f := range fixed {
		_, _, err := f.mutant(root)
		test.NoError(t, err)
		if len(f.Tests) == 0 || (f.File == "") == (f.Schema == "") {
			t.Errorf("%s: %+v", f.Harm, f)
		}
		for _, of := range f.Tests {
			test.True(t, namesTest(t, filepath.Join(root, of.Folder), of.Pattern), test.Sprint(f.Harm, of))
		}
	}
}

// namesTest reports whether a pattern matches a test of a folder. A renamed test would kill nothing.
func namesTest(t *testing.T, folder, pattern string) bool {
	t.Helper()
	files := expect.Value(filepath.Glob(filepath.Join(folder, "*_test.go")))(t)
	name, _, _ := strings.Cut(pattern, "/") // what follows are parts of the test
	named := regexp.MustCompile(name)
	for _, file := range files {
		text := expect.Value(os.ReadFile(file))(t)
		for _, of := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			if named.Match(of[1]) {
				return true
			}
		}
	}
	return false
}

func TestRunFixed_FailsForSurvivors(t *testing.T) {
	t.Parallel()
	root := newModule(t, maps.Clone(code))
	options := Options{Dir: t.TempDir(), Say: func(string) {}}
	killed := Fixed{
		Harm: "a sign is wrong", File: "a/a.go", Old: "return -1", New: "return -2", Tests: []Test{{"a", "^TestSign$"}},
	}
	test.NoError(t, runFixed(t.Context(), options, root, []Fixed{killed}))
	for want, f := range map[string]Fixed{
		"a sign is wrong: survived": {
			Harm: killed.Harm, File: killed.File, Old: killed.Old, New: killed.New, Tests: []Test{{"a", "^TestCount$"}},
		},
		"2 places in a/a.go have": {Harm: "two", File: "a/a.go", Old: "n int) int", New: "", Tests: killed.Tests},
		"does not compile":        {Harm: "none", File: "a/a.go", Old: "return -1", New: "return x", Tests: killed.Tests},
		"go list":                 {Harm: "none", File: "a/a.go", Old: "return -1", Tests: []Test{{"b", ""}}},
	} {
		if err := runFixed(t.Context(), options, root, []Fixed{f}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The list of equivalent mutants names mutants that exist, with a reason, and not too many.
func TestEquivalents_FitTheTree(t *testing.T) {
	t.Parallel()
	var patterns []string
	for _, e := range equivalents {
		patterns = append(patterns, "./"+e.Package)
	}
	all, sources, err := enumerate(t.Context(), expect.Value(rootOr(t.Context(), ""))(t), patterns)
	must.NoError(t, err)
	test.NoError(t, checkList(equivalents, all, sources))
}

func TestCheckList_FindsWrongEntries(t *testing.T) {
	t.Parallel()
	var all []Mutant
	for range 50 {
		all = append(all, Mutant{Package: "a", Function: "f", Old: []string{"if x {"}, New: []string{"if !(x) {"}})
	}
	loaded := map[string]*source{"a": nil}
	right := Equivalent{Package: "a", Function: "f", Old: "\t\tif x {\n", New: "if !(x) {", Reason: "x is never read"}
	test.NoError(t, checkList([]Equivalent{right}, all, loaded))
	if !equivalent([]Equivalent{right}, all[0]) || equivalent(nil, all[0]) {
		t.Error("an entry does not fit its mutant")
	}
	noReason, moved, other := right, right, right
	noReason.Reason, moved.Function, other.Package = " ", "g", "b"
	for want, list := range map[string][]Equivalent{
		"has no reason":                   {noReason},
		"is no mutant":                    {moved},
		"4.0 % of its mutants are listed": {right, right},
		"":                                {other}, // of a package that was not loaded
	} {
		err := checkList(list, all, loaded)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestLeaves_AreTheTestsThatFailed(t *testing.T) {
	t.Parallel()
	output := "--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/one (0.00s)\n        a_test.go:1: x\n" +
		"--- FAIL: TestB (0.00s)\npanic: x [recovered]\nnot a line --- FAIL: TestC (0.00s)\n"
	test.Eq(t, []string{"TestA/one", "TestB"}, leaves(output))
	if got, want := only("TestA/a+b"), `^TestA$/^a\+b$`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestHarm_RanksTheWorstFirst(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]Mutant{
		"permission, tenant, isolation": {Package: "internal/app/bookings", Site: "caller.SelfOnly && guest"},
		"money, credits":                {Package: "internal/app/accounts", Site: "tenant.ID == b.Credits"},
		"capacity":                      {Package: "internal/rules/booking", Function: "(*Slot).free", Site: "capacity - 1"},
		"order of the waitlist":         {Package: "internal/rules/waitlist", Site: "a < b"},
		"notification":                  {Package: "internal/app/messages", Site: "a < b"},
		"time":                          {Package: "internal/web", Site: "2 * time.Hour"},
		"rest":                          {Package: "internal/web", Site: "a < b"},
	} {
		test.EqOp(t, want, harms[harm(m)].name, test.Sprintf("%+v", m))
	}
	test.EqOp(t, 0, harm(Mutant{Kind: DBSecurity}), test.Sprint("a policy is not the worst"))
}

func TestWrite_ListsSurvivorsByHarm(t *testing.T) {
	t.Parallel()
	result := func(verdict, site string) Result {
		return Result{
			Mutant: Mutant{
				ID: "id", Package: "a", File: "a/a.go", Line: 3, Function: "f", Kind: Guard, Site: site,
				Old: []string{"if x {", "return", "}"}, New: nil,
			},
			Verdict: verdict, Tests: []string{"a", "b"},
		}
	}
	var out strings.Builder
	must.NoError(t, Write(&out, []Result{
		result(Survived, "x"), result(Survived, "balance"), result(Killed, ""), result(TimedOut, ""), result(NoMutant, ""),
	}))
	want := `| Package | Mutants | Killed | Timeouts | Survived | Score |
|---|---|---|---|---|---|
| a | 4 | 1 | 1 | 2 | 33.3 % |
| **all** | 4 | 1 | 1 | 2 | 33.3 % |

## Survived: money, credits

a/a.go:3 f: guard removed (id)

    - if x {
    - return
    - }

Tests: a, b.`
	if !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), "## Survived: rest") {
		t.Errorf("%s, want it to begin with\n%s", out.String(), want)
	}
}

// The catalog gives a mutant for each guard of the database, and each can be applied.
func TestSchemaMutants_ListEveryGuard(t *testing.T) {
	t.Parallel()
	all, err := schemaMutants(t.Context())
	must.NoError(t, err)
	kinds, statements := make(map[Kind]int), make(map[string]bool)
	for _, m := range all {
		kinds[m.Kind]++
		statements[m.Schema] = true
	}
	for _, kind := range []Kind{DBCheck, DBUnique, DBForeign, DBExclusion, DBPolicy, DBSecurity, DBPrivilege} {
		if kinds[kind] < 2 {
			t.Errorf("%s: %d", kind, kinds[kind])
		}
	}
	for _, want := range []string{
		"alter table bookings no force row level security", "grant delete on events to berth_app",
		"alter policy operator on directory using (true)", "drop index credit_entries_once",
		"alter table sessions drop constraint sessions_capacity cascade",
	} {
		if !statements[want] {
			t.Errorf("missing: %s", want)
		}
	}
	db := pgtest.New(t)
	for _, m := range all {
		tx, err := db.Owner.Begin(t.Context())
		must.NoError(t, err)
		_, err = tx.Exec(t.Context(), m.Schema)
		test.NoError(t, err, test.Sprint(m.Schema))
		must.NoError(t, tx.Rollback(t.Context()))
	}
}
