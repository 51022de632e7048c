package seal_test

import (
	"bytes"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

func keys(t *testing.T, secrets ...string) seal.Keys {
	t.Helper()
	var raw [][]byte
	for _, s := range secrets {
		raw = append(raw, []byte(s))
	}
	k, err := seal.NewKeys(raw[0], raw[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const old, current = "the secret that was used last year", "the secret that is used this year"

func TestKeys_OpenAndVerifyOnlyOwnTexts(t *testing.T) {
	t.Parallel()
	mine, others := tenant.New[tenant.TenantID](time.Now()), tenant.New[tenant.TenantID](time.Now())
	before, now := keys(t, old), keys(t, current, old)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.Byte()).Draw(t, "text")
		sealed := before.Seal(mine, text)
		if again := before.Seal(mine, text); bytes.Equal(sealed, again) {
			t.Fatal("sealing the same text twice gives the same result")
		}
		if got, err := now.Open(mine, sealed); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q, %v", got, err)
		}
		if _, err := now.Open(others, sealed); err == nil {
			t.Fatal("another tenant can open it")
		}
		sealed[rapid.IntRange(0, len(sealed)-1).Draw(t, "at")] ^= 1
		if _, err := now.Open(mine, sealed); err == nil {
			t.Fatal("a changed text can be opened")
		}
		link := before.Sign(mine, "a", text)
		if in, says, ok := now.Verify("a", link); !ok || in != mine || !bytes.Equal(says, text) {
			t.Fatalf("%v %q %v", in, says, ok)
		}
		if _, _, ok := now.Verify("b", link); ok {
			t.Fatal("the link is valid for another purpose")
		}
		at := rapid.IntRange(0, len(link)-1).Draw(t, "character")
		changed := link[:at] + string(link[at]^1) + link[at+1:]
		if _, _, ok := now.Verify("a", changed); ok {
			t.Fatal("a changed link is valid")
		}
	})
	if _, err := keys(t, current).Open(mine, before.Seal(mine, nil)); err == nil {
		t.Error("another key can open it")
	}
	if _, err := seal.NewKeys([]byte("short")); err == nil {
		t.Error("a short secret was accepted")
	}
}
