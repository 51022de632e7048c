package seal_test

import (
	"bytes"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func keys(t *testing.T, secrets ...string) seal.Keys {
	t.Helper()
	var raw [][]byte
	for _, s := range secrets {
		raw = append(raw, []byte(s))
	}
	return expect.Value(seal.NewKeys(raw[0], raw[1:]...))(t)
}

const old, current = "the secret that was used last year", "the secret that is used this year"

func TestKeys_OpenAndVerifyOnlyOwnTexts(t *testing.T) {
	t.Parallel()
	mine, others := tenant.New[tenant.TenantID](time.Now()), tenant.New[tenant.TenantID](time.Now())
	before, now := keys(t, old), keys(t, current, old)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.Byte()).Draw(t, "text")
		sealed := before.Seal(mine, text)
		must.False(t, bytes.Equal(sealed, before.Seal(mine, text)),
			must.Sprint("sealing the same text twice gives the same result"))
		got := expect.Value(now.Open(mine, sealed))(t)
		must.True(t, bytes.Equal(got, text), must.Sprintf("%q", got))
		_, err := now.Open(others, sealed)
		must.Error(t, err, must.Sprint("another tenant can open it"))
		sealed[rapid.IntRange(0, len(sealed)-1).Draw(t, "at")] ^= 1
		_, err = now.Open(mine, sealed)
		must.Error(t, err, must.Sprint("a changed text can be opened"))
		link := before.Sign(mine, "a", text)
		if in, says, err := now.Verify("a", link); err != nil || in != mine || !bytes.Equal(says, text) {
			t.Fatalf("%v %q %v", in, says, err)
		}
		expect.Fault(t, "LINK_INVALID", "for another purpose")(now.Verify("b", link))
		at := rapid.IntRange(0, len(link)-1).Draw(t, "character")
		expect.Fault(t, "LINK_INVALID", "changed")(now.Verify("a", link[:at]+string(link[at]^1)+link[at+1:]))
	})
	_, err := keys(t, current).Open(mine, before.Seal(mine, nil))
	test.Error(t, err, test.Sprint("another key can open it"))
	_, err = seal.NewKeys([]byte("short"))
	test.Error(t, err, test.Sprint("a short secret was accepted"))
}
