package content

import (
	"maps"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/notify"
)

func TestExample_IsInTheLanguageOfTheLocale(t *testing.T) {
	t.Parallel()
	all := make(Values)
	for _, topic := range notify.Topics() {
		maps.Copy(all, Example(topic, "en"))
	}
	all["Minutes"] = Example(notify.Offered, "en")["Minutes"]
	test.Eq(t, Values{
		"Name": "Mia Lindgren", "Tenant": "Harbour Yoga", "Link": "https://berth.example/", "Title": "Vinyasa Flow",
		"Location": "Pier 1", "Address": "Quay Street 1, Hamburg", "Resource": "Room 2", "Coach": "Carla Coach",
		"When": "Sat 23 May, 07:30", "Date": "Sat 23 May", "Time": "07:30", "EndTime": "08:30", "Party": 1, "Position": 2,
		"ClaimURL": "https://berth.example/claim/8Jx2mQ0vT5c", "Code": "4821", "ExpiresAt": "06:30", "Minutes": 30,
		"Reason": "Carla is ill.", "Refunded": true, "Late": false, "Waitlist": false, "OldWhen": "Fri 22 May, 07:30",
		"In": "in 24 hours", "Balance": 1, "Plan": "Ten classes", "Note": "No one on the waitlist fits the free place.",
		"Change": "Olga made Ben an admin.", "CancelBy": "06:30", "Mode": "OFFER",
	}, all)
	test.EqOp(t, 8, Example(notify.OfferExpiring, "en")["Minutes"].(int))
	test.NotEq(t, Example(notify.Reminder, "en"), Example(notify.Reminder, "de"))
	test.MapLen(t, len(variables(notify.CreditsLow)), Example(notify.CreditsLow, "en"))
	described := DescribeVariables(notify.Reminder, "en")
	test.EqOp(t, "Name", described[0].Name)
	test.EqOp(t, "Title", described[3].Name)
	test.EqOp(t, "In", described[len(described)-1].Name)
	for name, value := range emptyValues(notify.BookingCancelled) {
		test.True(t, value == "" || value == 0 || value == false, test.Sprint(name))
	}
}
