package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// logPage is a page size at which each log of an area fits on one page.
const logPage = 500

// readLogs returns the entries of a tenant's event and audit logs, in order.
func (r *recording) readLogs(owner caller) (events, audit []any) {
	r.t.Helper()
	events = r.list(owner, &v1.ListEventsRequest{PageSize: logPage}, "events")
	audit = r.list(owner, &v1.ListAuditEntriesRequest{PageSize: logPage}, "entries")
	slices.Reverse(audit) // the list has the newest first
	return events, audit
}

// list reads a list that must fit on one page.
func (r *recording) list(by caller, request proto.Message, key string) []any {
	r.t.Helper()
	by.silently(request).as("list").play(r)
	o, _ := r.kept["list"].(object)
	must.Nil(r.t, o.get("nextPageToken"), must.Sprintf("%T: more than %d", request, logPage))
	list, _ := o.get(key).([]any)
	return list
}

// end records the events, audit entries, messages and ledgers of both tenants, and stops the server.
func (r *recording) end() {
	r.t.Helper()
	r.settle()
	for _, in := range []struct {
		name  string
		owner caller
	}{{"Harbour Yoga", olga}, {"Hillside Golf", otto}} {
		events, audit := r.readLogs(in.owner)
		r.section(in.name+": events", r.sortBackground(withoutFields(r.withoutInitial(events), "id", "cursor")))
		r.section(in.name+": audit log", withoutFields(r.withoutInitial(audit), "id"))
		r.section(in.name+": messages", r.messages(in.owner))
		r.ledgers(in.name, in.owner)
	}
	r.stop()
}

// withoutInitial removes entries from before the script, and audit entries of calls that are not recorded.
func (r *recording) withoutInitial(list []any) []any {
	return slices.DeleteFunc(list, func(item any) bool {
		o, _ := item.(object)
		return r.before[o.get("id")] || o.get("requestId") == silentID
	})
}

// sortBackground sorts the events of background work in one minute: work that becomes due at the same time runs in any
// order.
func (r *recording) sortBackground(events []any) []any {
	group := func(item any) string {
		o, _ := item.(object)
		if o.get("actor") != "system" {
			return ""
		}
		minute, _, _ := strings.Cut(fmt.Sprint(o.get("occurTime")), ".")
		return minute[:len("2024-06-05T08:00")]
	}
	for from := 0; from < len(events); {
		to := from + 1
		for to < len(events) && group(events[from]) != "" && group(events[to]) == group(events[from]) {
			to++
		}
		r.sortByText(events[from:to])
		from = to
	}
	return events
}

// sortByText sorts a list by its recorded text.
func (r *recording) sortByText(list []any) {
	slices.SortStableFunc(list, func(a, b any) int {
		return strings.Compare(oneLine(r.names.clone().normalize(a, "", "")), oneLine(r.names.clone().normalize(b, "", "")))
	})
}

// section records a list, unless it is empty.
func (r *recording) section(title string, list []any) {
	if len(list) == 0 {
		return
	}
	r.printf("=== %s\n\n", title)
	for _, item := range list {
		r.printf("%s\n", render(r.names.normalize(item, "", ""), ""))
	}
	r.text.WriteString("\n")
}

// withoutFields removes fields from the objects of a list.
func withoutFields(list []any, keys ...string) []any {
	var kept []any
	for _, item := range list {
		o, _ := item.(object)
		kept = append(kept, slices.DeleteFunc(slices.Clone(o), func(f field) bool { return slices.Contains(keys, f.key) }))
	}
	return kept
}

// messages returns the lines of the delivery log with the messages. It sorts them, because those of one minute have no
// guaranteed order.
func (r *recording) messages(owner caller) []any {
	r.t.Helper()
	rendered := make(map[any]any)
	for _, item := range r.list(owner, &v1.ListNotificationOutboxRequest{PageSize: logPage}, "messages") {
		message, _ := item.(object)
		delivery, _ := message.get("delivery").(object)
		rendered[delivery.get("id")] = message.get("message")
	}
	var lines []any
	for _, item := range r.list(owner, &v1.ListNotificationDeliveriesRequest{PageSize: logPage}, "deliveries") {
		delivery, _ := item.(object)
		line := object{{"createTime", delivery.get("createTime")}}
		rest := withoutFields([]any{delivery}, "id", "noticeId", "providerId", "createTime", "updateTime")
		line = append(line, rest[0].(object)...) //nolint:forcetypeassert // it returns objects
		if message, ok := rendered[delivery.get("id")].(object); ok {
			if mail := delivery.get("channel") == "NOTIFICATION_CHANNEL_EMAIL"; mail && !r.wholeMessages {
				message = object{{"subject", message.get("subject")}}
			}
			line = append(line, field{"message", message})
		}
		lines = append(lines, line)
	}
	r.sortByText(lines)
	return lines
}

// ledgers records the ledger of every subscription.
func (r *recording) ledgers(name string, owner caller) {
	r.t.Helper()
	for _, item := range r.list(owner, &v1.ListMembersRequest{PageSize: logPage}, "members") {
		member, _ := item.(object)
		id := fmt.Sprint(member.get("id"))
		all := &v1.GetBalanceRequest{MemberId: id, Statuses: everySubscriptionStatus()}
		for _, item := range r.list(owner, all, "subscriptions") {
			subscription, _ := item.(object)
			lines := r.list(
				owner, &v1.ListCreditLinesRequest{SubscriptionId: fmt.Sprint(subscription.get("id")), PageSize: logPage}, "lines",
			)
			slices.Reverse(lines)
			title := fmt.Sprintf(
				"%s: ledger of %v's %v, %v", name, member.get("name"), subscription.get("planName"), subscription.get("status"),
			)
			r.section(title, withoutFields(lines, "id", "subscriptionId"))
		}
	}
}
