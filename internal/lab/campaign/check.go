package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/berthhq/berth/internal/lab/history"
)

// row is a booking or a waitlist entry in the database at the end.
type row struct {
	ID, Session, Note, Status string
	Entry                     bool
	Booking                   *string // of an entry
	Ended                     *time.Time
}

// finalState is the content of the database at the end.
type finalState struct {
	rows     []row // entries in the order of their queues
	balances map[string]int
	taken    map[string]int // taken seats by session
	offers   map[string]int // the number of each offer among those of its entry, from 1
	// The offers that were withdrawn.
	withdrawn map[string]int
	rare      map[string]int // how often a rare case occurred, by its name
	byID      map[string]row
	byNote    map[string][]row
}

func readFinalState(ctx context.Context, url string) (_ *finalState, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	t := &finalState{byID: make(map[string]row), byNote: make(map[string][]row)}
	found, err := conn.Query(ctx, `
select id::text, session_id::text, note, status, entry, booking_id::text, ended from (
  select id, session_id, note, status, false as entry, null::uuid as booking_id, cancelled_at as ended, 0 as join_key
  from bookings
  union all
  select id, session_id, note, status, true, booking_id, closed_at, join_key from waitlist_entries) x
order by entry, join_key, id`)
	if err != nil {
		return nil, err
	}
	if t.rows, err = pgx.CollectRows(found, pgx.RowToStructByPos[row]); err != nil {
		return nil, err
	}
	for _, r := range t.rows {
		t.byID[r.ID] = r
		t.byNote[r.Note] = append(t.byNote[r.Note], r)
	}
	for _, n := range []struct {
		into *map[string]int
		sql  string
	}{
		{&t.balances, `select id::text, balance from subscriptions`},
		{&t.taken, `select id::text, seats_taken from sessions`},
		{&t.withdrawn, `select id::text, 1 from waitlist_offers where status = 'WITHDRAWN'`},
		{&t.rare, rareCases},
		// Clocks are wrong, so the order comes from the event log.
		{&t.offers, `
select data->>'offer_id', row_number() over (partition by data->>'entry_id' order by xid, id)
from events where type = 'offer.created'`},
	} {
		if *n.into, err = numbers(ctx, conn, n.sql); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// numbers reads a number for each id.
func numbers(ctx context.Context, conn *pgx.Conn, sql string) (map[string]int, error) {
	found, err := conn.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	all := make(map[string]int)
	var id string
	var n int
	_, err = pgx.ForEachRow(found, []any{&id, &n}, func() error { all[id] = n; return nil })
	return all, err
}

// place returns the number of the place from the note of the row; 0 if there is none.
func (r row) place() int {
	var number int
	_, _ = fmt.Sscanf(r.Note, "place %d", &number)
	return number
}

// bookedBy returns the place whose booking ended an entry; 0 if there is none.
func (r row) bookedBy(t *finalState) int {
	if r.Booking == nil {
		return 0
	}
	return t.byID[*r.Booking].place()
}

// repeatCalls sends answered calls again with their keys. Each response must be the same as before.
func (l *load) repeatCalls(ctx context.Context) int {
	for i, one := range l.replays {
		answer := one.answer.ProtoReflect().New().Interface()
		node := l.cluster.nodes[i%len(l.cluster.nodes)]
		header, err := repeatCall(ctx, node.client(), one, answer)
		switch {
		case err != nil:
			l.fail("%[2]s repeated with the key %[1]s fails: %[3]v", one.key, one.procedure, err)
		case !proto.Equal(answer, one.answer):
			l.fail(
				"%[2]s repeated with the key %[1]s returns\n  %[3]v\nwant\n  %[4]v", one.key, one.procedure, answer, one.answer,
			)
		case header != "true":
			l.fail("%[2]s repeated with the key %[1]s is not marked as a repetition", one.key, one.procedure)
		}
	}
	return len(l.replays)
}

func repeatCall(
	ctx context.Context, conn *grpc.ClientConn, one replay, answer proto.Message,
) (repeated string, err error) {
	for range 20 {
		header, err := attempt(ctx, conn, one.token, one.key, one.procedure, one.request, answer)
		if err == nil {
			return strings.Join(header.Get("x-idempotent"), ","), nil
		}
		// A connection that a fault has left hanging costs one more call.
		_, reason := reasonOf(err)
		if !slices.Contains([]string{"CONTENTION", "RATE_LIMITED", "DEADLINE_EXCEEDED"}, reason) {
			return "", err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return "", err
		}
	}
	return "", errors.New("still asked to try again after 20 attempts")
}

// compareResults compares the results that callers got with the database.
func (l *load) compareResults(t *finalState) {
	for note, rows := range t.byNote {
		if !strings.HasPrefix(note, "place ") {
			continue
		}
		var bookings, entries []row
		for _, r := range rows {
			if r.Entry {
				entries = append(entries, r)
			} else {
				bookings = append(bookings, r)
			}
		}
		if len(bookings) > 1 || len(entries) > 1 {
			l.failures = append(l.failures, fmt.Sprintf("%s was created %d times", note, len(bookings)+len(entries)))
		}
		if len(bookings) == 1 && len(entries) == 1 && (entries[0].Booking == nil || *entries[0].Booking != bookings[0].ID) {
			l.failures = append(l.failures, fmt.Sprintf(
				"%s has a booking and a waitlist entry that do not belong together", note,
			))
		}
	}
	type known struct {
		made, refused, doubtful, touched, gone bool
		member                                 int
	}
	brief := make(map[string]bool)
	for _, round := range l.all {
		for _, a := range round.targets {
			brief[a.ID] = a.Brief
		}
	}
	places := make(map[int]*known)
	of := func(number int) *known {
		if places[number] == nil {
			places[number] = new(known)
		}
		return places[number]
	}
	for _, op := range l.operations {
		if op.Place == 0 {
			continue
		}
		k := of(op.Place)
		k.member = op.Member
		making := op.Kind == history.Book || op.Kind == history.Hold
		switch {
		case op.Outcome == history.Unknown:
			k.doubtful = true
		case making && (op.Outcome == history.Booked || op.Outcome == history.Waits || op.Outcome == history.Done):
			k.made = true
		case making:
			k.refused = true
		case op.Outcome == history.Done &&
			(op.Kind == history.Cancel || op.Kind == history.Release || op.Kind == history.Decline):
			k.gone = true
		}
		k.touched = k.touched || !making || op.Kind == history.Hold || brief[op.Session] // holds and offers expire
	}
	for number, k := range places {
		rows := t.byNote[noteOf(number)]
		alive := slices.ContainsFunc(rows, func(r row) bool {
			return r.Status == "PENDING" || r.Status == "CONFIRMED" || r.Status == "WAITING" || r.Status == "OFFERED"
		})
		taken := slices.ContainsFunc(rows, func(r row) bool { // the member booked what the entry waits for
			other := r.bookedBy(t)
			return other != number && places[other] != nil && places[other].member == k.member && !places[other].refused
		})
		var wrong string
		switch {
		case k.made && len(rows) == 0:
			wrong = "was acknowledged, but does not exist"
		case k.refused && !k.doubtful && len(rows) > 0:
			wrong = "was refused, but exists"
		case k.gone && alive:
			wrong = "was cancelled, but is active"
		case k.made && !k.touched && !alive && !taken:
			wrong = "was acknowledged, but has ended without a call"
		default:
			continue
		}
		l.failures = append(l.failures, fmt.Sprintf("%s %s: %v", noteOf(number), wrong, rows))
	}
}

// completeHistories adds to the histories what callers do not know: the holds and offers that expired, the places in
// the rosters, and the final state.
func (l *load) completeHistories(t *finalState) {
	began := make(map[int]history.Operation)
	for i := range l.operations {
		op := &l.operations[i]
		if op.Kind == history.Hold || op.Kind == history.Book {
			began[op.Place] = *op
		}
		for j, id := range op.IDs {
			op.Seen[j].Place = t.byID[id].place()
		}
		op.Offer = t.offers[op.OfferID]
	}
	end := l.clock()
	type moment struct{ session, at string }
	ended := make(map[moment]history.Operation)
	for _, r := range t.rows {
		if r.Status != "EXPIRED" || r.Ended == nil {
			continue
		}
		at, number := moment{r.Session, r.Ended.String()}, r.place()
		op := ended[at]
		ended[at] = history.Operation{
			Kind: history.Expire, Session: r.Session, Ended: append(op.Ended, number),
			Called: max(op.Called, began[number].Called), Returned: end, Outcome: history.Done,
		}
	}
	l.operations = slices.AppendSeq(l.operations, maps.Values(ended))
	active := map[string]history.Status{
		"PENDING": history.Held, "CONFIRMED": history.Confirmed, "WAITING": history.Waiting, "OFFERED": history.Offered,
	}
	for _, round := range l.all {
		for _, a := range round.targets {
			last := history.Operation{
				Kind: history.Look, Session: a.ID, Called: end + 1, Returned: end + 2, Outcome: history.Done,
				Taken: new(t.taken[a.ID]), Note: "the end",
			}
			for _, r := range t.rows {
				if status, ok := active[r.Status]; ok && r.Session == a.ID {
					last.Seen = append(last.Seen, history.Seat{Place: r.place(), Status: status})
				}
			}
			l.operations = append(l.operations, last)
		}
		for _, ledger := range round.ledgers {
			l.operations = append(l.operations, history.Operation{
				Kind: history.Balance, Payer: ledger.ID, Called: end + 1, Returned: end + 2, Outcome: history.Done,
				Left: t.balances[ledger.ID], Note: "the end",
			})
		}
	}
}

// historyTimeout limits the search for an order of one history.
const historyTimeout = 2 * time.Minute

// minimizeTimeout limits each search when a history is minimized.
const minimizeTimeout = 2 * time.Second

// checkHistories looks for an order of every history, and stores the histories without one.
func (l *load) checkHistories(folder string, r *Report) error {
	bySession, byPayer := make(map[string][]history.Operation), make(map[string][]history.Operation)
	for _, op := range l.operations {
		if op.Session != "" {
			bySession[op.Session] = append(bySession[op.Session], op)
		}
		if op.Payer != "" {
			byPayer[op.Payer] = append(byPayer[op.Payer], op)
		}
	}
	begun := time.Now()
	check := func(v history.Verdict, of any) error {
		r.Histories, r.Longest = r.Histories+1, max(r.Longest, time.Since(begun))
		defer func() { begun = time.Now() }()
		if v.Linearizable() {
			return nil
		}
		name := strings.ReplaceAll(v.Name, " ", "-")
		small := v.Minimize(minimizeTimeout)
		l.failures = append(l.failures, fmt.Sprintf(
			"%s: no order explains its %d operations (%s); see %s.html and %s-smallest.html:\n%s",
			v.Name, len(v.Operations()), v.Result, name, name, small))
		return errors.Join(
			writeHistory(filepath.Join(folder, name), v, of), writeHistory(filepath.Join(folder, name+"-smallest"), small, of),
		)
	}
	for _, round := range l.all {
		for _, group := range round.groups {
			var of []history.Session
			var all []history.Operation
			for _, a := range group {
				of, all = append(of, a.Session), append(all, bySession[a.ID]...)
			}
			if err := check(history.CheckSessions(of, all, historyTimeout), of); err != nil {
				return err
			}
		}
		for _, ledger := range round.ledgers {
			if err := check(history.CheckLedger(ledger, byPayer[ledger.ID], historyTimeout), ledger); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeHistory writes a history as data and as a page.
func writeHistory(path string, v history.Verdict, of any) error {
	text, err := json.MarshalIndent(map[string]any{"of": of, "operations": v.Operations()}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".json", text, 0o600); err != nil {
		return err
	}
	page, err := os.Create(path + ".html")
	if err != nil {
		return err
	}
	return errors.Join(v.WritePage(page), page.Close())
}
