package session_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestFilter_RestrictsStates(t *testing.T) {
	t.Parallel()
	all := []catalog.SessionState{catalog.Draft, catalog.Published, catalog.Cancelled}
	for name, tt := range map[string]struct {
		got  session.Filter
		want []catalog.SessionState
	}{
		"bulk publish takes drafts": {
			session.Filter{States: all}.Applicable(session.BulkPublish),
			[]catalog.SessionState{catalog.Draft},
		},
		"bulk publish takes only drafts, and none is named": {
			session.Filter{States: []catalog.SessionState{catalog.Cancelled}}.Applicable(session.BulkPublish),
			[]catalog.SessionState{},
		},
		"bulk publish takes only drafts": {
			session.Filter{}.Applicable(session.BulkPublish), []catalog.SessionState{catalog.Draft},
		},
		"bulk cancel leaves out what is cancelled": {
			session.Filter{}.Applicable(session.BulkCancel), []catalog.SessionState{catalog.Draft, catalog.Published},
		},
		"bulk delete takes all":                      {session.Filter{}.Applicable(session.BulkDelete), nil},
		"with the permission, all that is asked for": {session.Filter{}.Visible(readsDrafts), nil},
		"members see no drafts": {
			session.Filter{}.Visible(nil),
			[]catalog.SessionState{catalog.Published, catalog.Cancelled},
		},
		"members see no drafts, all named": {
			session.Filter{States: all}.Visible(nil),
			[]catalog.SessionState{catalog.Published, catalog.Cancelled},
		},
		"members see nothing that is only drafts": {
			session.Filter{States: []catalog.SessionState{catalog.Draft}}.Visible(nil),
			[]catalog.SessionState{},
		},
	} {
		test.Eq(t, tt.want, tt.got.States, test.Sprint(name))
	}
}

func TestCheckBulkSize_RejectsTooManySessionsOrPlaces(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		all  []session.Session
		want string
	}{
		"none":              {nil, ""},
		"most sessions":     {make([]session.Session, session.MaxBulk), ""},
		"too many sessions": {make([]session.Session, session.MaxBulk+1), "BULK_TOO_LARGE limit=2000 of=sessions"},
		"most places":       {[]session.Session{{SeatsTaken: 6000, Waiting: 1000}, {SeatsTaken: 3000}}, ""},
		"too many places": {
			[]session.Session{{SeatsTaken: 6000, Waiting: 1000}, {SeatsTaken: 3001}}, "BULK_TOO_LARGE limit=10000 of=seats",
		},
	} {
		expect.Fault(t, tt.want, name)(session.CheckBulkSize(tt.all))
	}
}

var readsDrafts = tenant.Permissions{session.ReadDrafts: true}
