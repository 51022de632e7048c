package web

import (
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestConfirmWords_AreInTheOrderOfLanguages(t *testing.T) {
	t.Parallel()
	must.EqOp(t, len(languages), len(allConfirmWords))
	must.EqOp(t, len(languages), len(allAddressWords))
	for i, in := range allAddressWords {
		test.EqOp(t, languages[i].String(), in.Lang)
	}
	for i, in := range allConfirmWords {
		test.EqOp(t, languages[i].String(), in.Lang)
	}
}
