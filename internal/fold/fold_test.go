package fold_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fold"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestText_IsTheSameForWhatReadsTheSame(t *testing.T) {
	t.Parallel()
	// The console's tests fold the same texts.
	var texts map[string][]string
	must.NoError(t, json.Unmarshal(expect.Value(os.ReadFile("testdata/folded.json"))(t), &texts))
	must.MapNotEmpty(t, texts)
	for want, all := range texts {
		for _, s := range all {
			test.EqOp(t, norm.NFC.String(want), fold.Text(s), test.Sprintf("%q", s))
		}
	}
	test.NotEqOp(t, fold.Text("か"), fold.Text("が"), test.Sprint("another letter"))
	test.NotEqOp(t, fold.Text("हन्द"), fold.Text("हिन्दी"), test.Sprint("other vowels"))
}

// A folded text is its own key, so what is stored folded and what is searched folded meet.
func TestText_IsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		once := fold.Text(s)
		test.EqOp(t, once, fold.Text(once))
		test.EqOp(t, once, fold.Text(norm.NFD.String(s)))
	})
}
