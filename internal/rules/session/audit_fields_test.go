package session

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// The event of an edit and the audit log say the same.
func TestChanges_AreThoseOfTheAuditLog(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.March, 16, 12, 0, 0, 0, time.UTC)
	before := Session{
		Details: Details{
			Service: tenant.New[tenant.ServiceID](at), Location: tenant.New[tenant.LocationID](at), Title: "Yoga",
			Capacity: new(8),
		},
		StartsAt: at, EndsAt: at.Add(time.Hour), State: "DRAFT",
	}
	for path, value := range map[string]any{
		"Details.Service":          tenant.New[tenant.ServiceID](at),
		"Details.Location":         tenant.New[tenant.LocationID](at),
		"Details.Resource":         tenant.New[tenant.ResourceID](at),
		"Details.Coach":            tenant.New[tenant.MemberID](at),
		"Details.Title":            "",
		"Details.Description":      "On the mat.",
		"Details.Capacity":         nil,
		"Details.WaitlistCapacity": 3,
		"StartsAt":                 at.Add(time.Millisecond).In(time.FixedZone("", 3600)),
		"EndsAt":                   at.Add(2 * time.Hour),
		"State":                    "PUBLISHED",
		"Blocked":                  true,
		"StateReason":              "flood",
		"Workouts":                 []tenant.WorkoutID{tenant.New[tenant.WorkoutID](at)},
		"Version":                  7, // nobody edits it
	} {
		after := vary.From(before, vary.Fields{path: value})
		for _, edit := range [][2]Session{{before, after}, {after, before}} {
			changes := edit[0].Changes(edit[1])
			want := expect.Value(json.Marshal(catalog.AuditChanges(edit[0].AuditFields(), edit[1].AuditFields())))(t)
			if path == "Version" {
				want = []byte("{}")
			}
			text := expect.Value(json.Marshal(changes))(t)
			test.EqJSON(t, string(want), string(text), test.Sprint(path))
			test.Eq[event.Data](t, changes, expect.Value(event.Decode(changes.Type(), text))(t), test.Sprint(path))
		}
	}
	var none event.SessionUpdated
	same := vary.From(before, vary.Fields{
		"StartsAt": at.In(time.FixedZone("", 3600)), "Details.Capacity": 8, "Workouts": []tenant.WorkoutID{},
	})
	test.Eq(t, none, before.Changes(same))
	resource := vary.From(before, vary.Fields{"Details.Resource": tenant.New[tenant.ResourceID](at)})
	test.Eq(t, none, resource.Changes(resource))
}

// An event has every field that an edit can change.
func TestChanges_HaveEveryFact(t *testing.T) {
	t.Parallel()
	all := event.SessionFields{
		Service: event.Changed[tenant.ServiceID](nil), Location: event.Changed[tenant.LocationID](nil),
		Resource: event.Changed[tenant.ResourceID](nil), Coach: event.Changed[tenant.MemberID](nil),
		Title: event.Changed[string](nil), Description: event.Changed[string](nil), Capacity: event.Changed[int](nil),
		WaitlistCapacity: event.Changed[int](nil), Start: event.Changed[time.Time](nil),
		End: event.Changed[time.Time](nil), State: event.Changed[string](nil), Blocked: event.Changed[bool](nil),
		StateReason: event.Changed[string](nil), Workouts: event.Changed[[]tenant.WorkoutID](nil),
	}
	facts := make(map[string]any)
	for name := range (Session{}).AuditFields() {
		facts[name] = nil
	}
	want := expect.Value(json.Marshal(facts))(t)
	test.EqJSON(t, string(want), string(expect.Value(json.Marshal(all))(t)))
}
