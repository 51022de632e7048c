package content

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
)

// Each message has a value for each variable of its topic, and for no other.
func TestFacts_FillInTheVariablesOfTheirTopic(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	start := exampleStart.Add(24 * time.Hour)
	common := Values{"Name": "Mia", "Tenant": "Harbour", "Link": "https://a"}
	session := Values{
		"Title": "Yoga", "Location": "Pier", "Address": "Quay 1", "Resource": "Room 2", "Coach": "Carla", "Party": 2,
		"When": "Sun 24 May, 09:30", "Date": "Sun 24 May", "Time": "09:30", "EndTime": "10:30",
	}
	all := notify.Topics()
	offer := Values{"ClaimURL": "https://c", "Code": "4821", "ExpiresAt": "10:11", "Minutes": 41}
	for topic, extra := range map[notify.Topic]Values{
		notify.BookingConfirmed: {}, notify.CheckInOpen: {}, notify.WaitlistEnded: {},
		notify.Promoted:         {"CancelBy": "10:30"},
		notify.Waitlisted:       {"Position": 3, "Mode": "OFFER"},
		notify.Offered:          offer,
		notify.OfferExpiring:    offer,
		notify.BookingCancelled: {"Reason": "ill", "Refunded": true, "Late": true, "Waitlist": true},
		notify.SessionCancelled: {"Reason": "ill", "Refunded": true, "Waitlist": true},
		notify.Rescheduled:      {"OldWhen": "Sat 23 May, 08:30"}, notify.Reminder: {"In": "in 24 hours"},
		notify.CreditsLow: {"Balance": 4, "Plan": "Ten"}, notify.StaffNote: {"Note": "look"},
		notify.AccessChanged: {"Change": "Olga made Ben an admin."}, notify.ContactChanged: {"ByPhone": true},
		notify.ContactCode:  {"Code": "4821", "ConfirmURL": "https://k", "Minutes": 41},
		notify.DomainLapsed: {"From": "hello@studio.com"},
		notify.QuotaReached: {"Used": 601, "Limit": 200, "ByPhone": true, "Country": "PT"},
	} {
		all = slices.DeleteFunc(all, func(t notify.Topic) bool { return t == topic })
		want := maps.Clone(common)
		if !slices.Contains([]notify.Topic{
			notify.CreditsLow, notify.AccessChanged, notify.ContactCode, notify.ContactChanged, notify.DomainLapsed,
			notify.QuotaReached,
		}, topic) {
			maps.Copy(want, session)
		}
		maps.Copy(want, extra)
		c := Facts{
			Topic: topic, Now: exampleStart, Zone: berlin, LocationZone: berlin, Name: "Mia", Tenant: "Harbour",
			Link: "https://a", ClaimURL: "https://c", Code: "4821",
			Subject: Subject{
				Facts: notify.Facts{StartsAt: start}, EndsAt: start.Add(time.Hour), Title: "Yoga", Location: "Pier",
				Address: "Quay 1", Resource: "Room 2", Coach: "Carla", Party: 2, Plan: "Ten",
			},
			CancelBy: exampleStart.Add(time.Hour), Mode: "OFFER",
			Until: exampleStart.Add(41 * time.Minute), ConfirmURL: "https://k", ByPhone: true, Details: notify.Details{
				Reason: "ill", Refunded: true, Late: true, Waitlist: true, Position: 3, Balance: 4, Note: "look",
				OldStart: exampleStart.Add(-time.Hour), From: "hello@studio.com",
				Quota: &notify.SendingAlarm{
					Channel: delivery.SMS, Country: "PT", Percent: 300, Limit: 200, Used: 601,
				},
				Access: &notify.AccessChange{Kind: notify.RoleGiven, Role: "admin", Name: "Ben", By: "Olga"},
			},
		}
		test.Eq(t, want, c.Values("en"), test.Sprint(topic))
		names := slices.Sorted(maps.Keys(want))
		var described []string
		for _, v := range DescribeVariables(topic, "en") {
			described = append(described, v.Name)
			test.NotEqOp(t, "", v.Description)
			test.EqOp(t, fmt.Sprint(Example(topic, "en")[v.Name]), v.Example)
		}
		slices.Sort(described)
		test.Eq(t, names, described, test.Sprint(topic))
		test.Eq(t, names, slices.Sorted(maps.Keys(emptyValues(topic))))
	}
	test.SliceEmpty(t, all, test.Sprint("their variables are not tested"))
}

func TestFacts_ShowTimesAsTheRecipientNeedsThem(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	c := Facts{
		Topic: notify.Offered, Now: exampleStart, Zone: berlin, LocationZone: berlin,
		Until: exampleStart.Add(15 * time.Hour),
	}
	c.Window = &TimeWindow{
		From: civiltest.Date("2026-05-20"), Until: civiltest.Date("2026-05-22"),
		Earliest: civiltest.TimeOfDay("08:00"), Latest: civiltest.TimeOfDay("09:30"),
	}
	v := c.Values("en")
	test.Eq[any](t, "Sun 24 May, 00:30", v["ExpiresAt"]) // tomorrow
	test.Eq[any](t, "Wed 20 May – Fri 22 May, 08:00–09:30", v["When"])
	test.Eq[any](t, "Wed 20 May – Fri 22 May", v["Date"])
	test.Eq[any](t, "08:00–09:30", v["Time"])
	for latest, want := range map[string]string{
		"23:59": "Wed 20 May", "23:58": "Wed 20 May, 00:00–23:58", "22:59": "Wed 20 May, 00:00–22:59",
	} {
		c.Window = &TimeWindow{From: c.Window.From, Until: c.Window.From, Latest: civiltest.TimeOfDay(latest)}
		test.EqOp(t, want, c.Values("en")["When"].(string))
	}
	c.Window.Earliest, c.Window.Latest = civil.TimeOfDay{Minute: 1}, civil.TimeOfDay{Hour: 23, Minute: 59}
	test.EqOp(t, "Wed 20 May, 00:01–23:59", c.Values("en")["When"].(string))
	c.Topic, c.StartsAt = notify.Rescheduled, exampleStart
	c.Details.OldStart = c.StartsAt
	test.EqOp(t, "", c.Values("en")["OldWhen"].(string)) // the time is the same
	c.Topic, c.Zone, c.Details.OldStart = notify.Rescheduled, time.UTC, c.StartsAt.Add(-time.Hour)
	test.EqOp(t, "Sat 23 May, 06:30 (UTC)", c.Values("en")["OldWhen"].(string))
	test.EqOp(t, "Sat 23 May, 07:30 (UTC)", c.Values("en")["When"].(string))
}
