package data

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A plan is a node of what EXPLAIN returns. Conds are the conditions of the node and of those around it.
type plan struct {
	Type       string `json:"Node Type"`
	Relation   string `json:"Relation Name"`
	Alias      string `json:"Alias"`
	IndexCond  string `json:"Index Cond"`
	Recheck    string `json:"Recheck Cond"`
	Filter     string `json:"Filter"`
	JoinFilter string `json:"Join Filter"`
	HashCond   string `json:"Hash Cond"`
	Plans      []plan `json:"Plans"`

	joins string // conditions of the joins that the node is in
}

// crossing matches the statements of operators' jobs, which find tenants.
var crossing = regexp.MustCompile(`select (distinct )?(d\.)?tenant_id from ` +
	`(directory|shared_contacts|sign_in_addresses)`)

// Every statement fits the schema: those that were put together, as pg knows them, and the others as the source has
// them. Each reads and changes only rows of its tenant, in each table that it mentions, also without the policies.
func TestStatements_FitTheSchemaAndNameTheTenant(t *testing.T) {
	t.Parallel()
	conn := expect.Value(pgtest.New(t).Owner.Acquire(t.Context()))(t)
	defer conn.Release()
	expect.OK(t)(conn.Exec(t.Context(), "set plan_cache_mode = force_generic_plan"))
	statements := append(pg.Statements(), literals(t)...)
	test.Greater(t, 300, len(statements))
	for _, sql := range statements {
		statement := expect.Value(conn.Conn().Prepare(t.Context(), "s", sql))(t)
		nulls := strings.Join(slices.Repeat([]string{"null"}, len(statement.ParamOIDs)), ", ")
		explain := conn.Conn().PgConn().Exec(t.Context(),
			"explain (format json) "+strings.TrimSuffix("execute s("+nulls+")", "()")+"; deallocate s")
		var explained []struct{ Plan plan }
		must.NoError(t, json.Unmarshal(expect.Value(explain.ReadAll())(t)[0].Rows[0][0], &explained))
		for nodes := []plan{explained[0].Plan}; len(nodes) > 0; nodes = nodes[1:] {
			n := nodes[0]
			limited := n.Relation == "" || n.Type == "ModifyTable" || crossing.MatchString(sql) ||
				strings.Contains(n.IndexCond+n.Recheck+n.Filter, "tenant_id = ") ||
				strings.Contains(n.joins, "("+n.Alias+".tenant_id = ") ||
				strings.Contains(n.joins, " = "+n.Alias+".tenant_id)")
			test.True(t, limited, test.Sprintf("%s %s in %s", n.Relation, n.Alias, sql))
			for _, inner := range n.Plans {
				inner.joins = n.joins + n.JoinFilter + n.HashCond
				nodes = append(nodes, inner)
			}
		}
	}
}
