package content_test

import (
	"bytes"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCalendarLink_RoundTripsAndRefusesOtherTexts(t *testing.T) {
	t.Parallel()
	in, secret := tenant.TenantID{UUID: tenant.UUID{1}}, bytes.Repeat([]byte{7}, content.CalendarSecretSize)
	link := content.WriteCalendarLink(in, secret)
	test.EqOp(t, "AQAAAAAAAAAAAAAAAAAAAAcHBwcHBwcHBwcHBwcHBwc", link) // links that were handed out stay valid
	gotIn, gotSecret, err := content.ReadCalendarLink(link)
	expect.Fault(t, "")(err)
	test.EqOp(t, in, gotIn)
	test.Eq(t, secret, gotSecret)
	for name, text := range map[string]string{
		"empty": "", "short": link[1:], "long": link + "A", "padded": link + "=", "not base64": "!" + link[1:],
		"no tenant": content.WriteCalendarLink(tenant.TenantID{}, secret),
		"no secret": content.WriteCalendarLink(in, nil),
	} {
		expect.Fault(t, "LINK_INVALID", name)(content.ReadCalendarLink(text))
	}
}
