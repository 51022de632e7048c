package berth

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

var update = flag.Bool("update", false, "write the tables of docs/retries.md")

// The tables of the page are between these lines.
const (
	tablesBegin = "<!-- Made from clients/retries.json: go test ./clients/go/berth -run RetriesPage -update -->\n"
	tablesEnd   = "<!-- End -->\n"
)

func TestRetriesPage_HasTheCases(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/retries.md"
	page, err := os.ReadFile(path)
	must.NoError(t, err)
	before, rest, ok := strings.Cut(string(page), tablesBegin)
	_, after, closed := strings.Cut(rest, tablesEnd)
	must.True(t, ok, must.Sprint("the page has no place for the tables"))
	must.True(t, closed, must.Sprint("the page has no place for the tables"))
	want := before + tablesBegin + tables(readCases(t)) + tablesEnd + after
	if *update {
		must.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	test.Eq(t, want, string(page), test.Sprint("docs/retries.md is stale; update it with -update"))
}

func tables(all cases) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nA call ends after %s s with its retries, and is sent again at most %d times.\n\n",
		number(all.Timeout), all.Retries)
	b.WriteString("### Calls\n\n| After | Error | Calls | Retry | Sent again after |\n|---|---|---|---|---|\n")
	for _, same := range groups(all.Calls) {
		c := same[0]
		var calls []string
		for _, one := range same {
			calls = append(calls, callNames[one.Call])
		}
		when := c.When
		if c.Elapsed > 0 {
			when += fmt.Sprintf(", %s s after the call began", number(c.Elapsed))
		}
		if c.Retries > 0 {
			when += fmt.Sprintf(" (%d retries allowed)", c.Retries)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n",
			when, errorName(c), strings.Join(calls, ", "), ordinal(c.Attempt), wait(c, "not sent again"))
	}
	b.WriteString("\n### Watches\n\n| After | Error | Reconnect | Connected again after |\n|---|---|---|---|\n")
	for _, c := range all.Watches {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.When, errorName(c), ordinal(c.Attempt), wait(c, "not connected again"))
	}
	b.WriteString("\n### Tokens\n\n| When | Lifetime | Age | The call has |\n|---|---|---|---|\n")
	for _, c := range all.Renewals {
		lifetime, token := number(c.Lifetime)+" s", "an error"
		if c.Expiry == "unknown" {
			lifetime = "unknown"
		}
		if c.Token != "" {
			token = "the " + c.Token + " token"
		}
		fmt.Fprintf(&b, "| %s | %s | %s s | %s |\n", c.When, lifetime, number(c.Age), token)
	}
	b.WriteString("\n| When | The issuer gives | The server answers | The call is sent with | Result |\n")
	b.WriteString("|---|---|---|---|---|\n")
	for _, c := range all.Rejections {
		given, result := slices.Clone(c.Tokens), "`UNAUTHENTICATED`"
		for i := range given {
			if given[i] == "" {
				given[i] = "an error"
			}
		}
		if c.Succeeds {
			result = "success"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.When,
			strings.Join(given, ", "), strings.Join(c.Answers, ", "), strings.Join(c.Sent, ", "), result)
	}
	b.WriteString("\n")
	return b.String()
}

var callNames = map[string]string{
	"read": "reads", "mutation": "calls with a key", "public": "public mutations", "exchange": "`ExchangeKey`",
}

// groups joins neighbors that differ in their call only.
func groups(all []callCase) [][]callCase {
	var list [][]callCase
	for _, c := range all {
		if n := len(list); n > 0 && row(list[n-1][0]) == row(c) {
			list[n-1] = append(list[n-1], c)
		} else {
			list = append(list, []callCase{c})
		}
	}
	return list
}

func row(c callCase) string {
	return fmt.Sprint(c.When, errorName(c), c.Attempt, c.Elapsed, c.Retries, c.Wait)
}

func errorName(c callCase) string {
	name := "code `" + c.Code.String() + "`"
	if c.Reason != "" {
		name = "`" + c.Reason + "`, " + name
	}
	if after, ok := c.Metadata["retry_after"]; ok {
		name += ", `retry_after` " + after
	}
	return name
}

func ordinal(attempt int) string { return strconv.Itoa(attempt + 1) }

func wait(c callCase, never string) string {
	if c.Wait == nil {
		return never
	}
	return fmt.Sprintf("%s to %s s", number(c.Wait[0]), number(c.Wait[1]))
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
