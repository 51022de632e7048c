package regex_test

import (
	"errors"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/regex"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCompile_AcceptsWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	for text, matches := range map[string]string{
		"":                            "",
		`^[0-9]{3}-[0-9]{8}$`:         "123-12345678",
		`(?i)^(gold|silver) \d{1,4}$`: "GOLD 7",
		`^\p{L}+( \p{L}+){0,5}$`:      "Åsa Öst",
		`^M-[A-Z0-9]{16,64}$`:         "M-0123456789ABCDEFG",
		`^(?:\d{4} ?){4}$`:            "1234 5678 9012 3456",
		`a{0}b*c+d?`:                  "c",
		strings.Repeat("x", 990):      strings.Repeat("x", 990),
	} {
		test.True(t, expect.Value(regex.Compile(text))(t).MatchString(matches), test.Sprint(text))
	}
}

// None of them is compiled: the library would take up to seconds for it.
func TestCompile_RefusesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`((a{10}){10}){10}`, `(?:\pL{1000}){1}`, strings.Repeat(`\pL{1000}`, 100), `[^a]{999}\pN{999}`,
		`(((((((a?){2}){2}){2}){2}){2}){30})`, `(a{1,1000})`, `a{1000}`, `(abc){500,}`, strings.Repeat(`(?i)[a-z]{900}`, 70),
		strings.Repeat("x", 1_001), strings.Repeat("(", 400) + "a" + strings.Repeat(")*", 400), strings.Repeat(`\pL`, 300),
		`(?:(?:){1000}){1000}`,
	} {
		_, err := regex.Compile(text)
		must.Error(t, err, must.Sprint(text))
	}
	for _, text := range []string{`((a{10}){10}){10}`, `\pL{1000}`, strings.Repeat("x", 1_001)} {
		_, err := regex.Compile(text)
		test.ErrorIs(t, err, regex.ErrTooLarge, test.Sprint(text))
	}
	for _, text := range []string{"(", "a{1001}", "[z-a]", `\8`, "\xff", "(?=a)"} {
		_, err := regex.Compile(text)
		must.Error(t, err, must.Sprint(text))
		test.False(t, errors.Is(err, regex.ErrTooLarge), test.Sprint(text))
	}
}

// The size is never below that of the program.
func TestSize_BoundsTheProgram(t *testing.T) {
	t.Parallel()
	parts := []string{
		"a", "bc", ".", `\d`, `\pL`, "[a-f0-9]", "(", ")", "(?:", ")", "|", "*", "+", "?", "{2}", "{3,}", "{0,4}", "{0}", "^",
		"$", `\b`, "(?i)", "*?", "{2,5}?",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "")
		size, err := regex.Size(text)
		if err != nil {
			return
		}
		program := expect.Value(syntax.Compile(expect.Value(syntax.Parse(text, syntax.Perl))(t).Simplify()))(t)
		must.LessEq(t, size, len(program.Inst), must.Sprint(text))
		must.LessEq(t, regex.MaxSize, size)
		expect.OK(t)(regex.Compile(text))
	})
}
