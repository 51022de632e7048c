package delivery_test

import (
	"io"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
)

func TestError_NamesKindCodeAndReason(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]*delivery.Error{
		"transient": {Kind: delivery.Transient},
		"opted_out (21610): the recipient replied STOP": {
			Kind: delivery.OptedOut, Code: "21610", Reason: "the recipient replied STOP",
		},
		"unknown: no answer: unexpected EOF": {
			Kind: delivery.Unknown, Reason: "no answer", Err: io.ErrUnexpectedEOF,
		},
	} {
		test.EqOp(t, want, err.Error())
		if err.Err != nil {
			test.ErrorIs(t, err, err.Err)
		}
	}
	test.EqOp(t, "EXPIRED", delivery.Expired().Code)
}
