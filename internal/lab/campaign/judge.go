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

// row is a booking or a waitlist entry as the database has it in the end.
type row struct {
	ID, Session, Note, Status string
	Entry                     bool
	Booking                   *string // of an entry
	Ended                     *time.Time
}

// truth is all that the database has in the end.
type truth struct {
	rows     []row // entries in the order of their queues
	balances map[string]int
	taken    map[string]int // seats of each session that nobody else can have
	offers   map[string]int // each offer's number among those of its entry, from 1
	byID     map[string]row
	byNote   map[string][]row
}

func readTruth(ctx context.Context, url string) (_ *truth, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	t := &truth{byID: make(map[string]row), byNote: make(map[string][]row)}
	found, err := conn.Query(ctx, `
select id::text, session_id::text, note, status, entry, booking_id::text, ended from (
  select id, session_id, note, status, false as entry, null::uuid as booking_id, cancelled_at as ended, 0 as join_key from bookings
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
		// Clocks are wrong: what was first the log knows.
		{&t.offers, `
select data->>'offer_id', row_number() over (partition by data->>'entry_id' order by xid, id) from events where type = 'offer.created'`},
	} {
		if *n.into, err = numbers(ctx, conn, n.sql); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// numbers reads what has a number each, by id.
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

// place reads the number of a place from the note of its row; 0 where there is none.
func (r row) place() int {
	var number int
	_, _ = fmt.Sscanf(r.Note, "place %d", &number)
	return number
}

// askAgain sends answered calls once more under their keys. Each has to say the same again.
func (l *load) askAgain(ctx context.Context) int {
	for i, one := range l.replays {
		answer := one.answer.ProtoReflect().New().Interface()
		node := l.site.nodes[i%len(l.site.nodes)]
		header, err := again(ctx, node.client(), one, answer)
		switch {
		case err != nil:
			l.fail("asked again under %s, %s says %v", one.key, one.procedure, err)
		case !proto.Equal(answer, one.answer):
			l.fail("asked again under %s, %s says\n  %v\nand not\n  %v", one.key, one.procedure, answer, one.answer)
		case header != "true":
			l.fail("asked again under %s, %s does not say that it repeats itself", one.key, one.procedure)
		}
	}
	return len(l.replays)
}

func again(ctx context.Context, conn *grpc.ClientConn, one replay, answer proto.Message) (repeated string, err error) {
	for range 20 {
		header, err := attempt(ctx, conn, one.token, one.key, one.procedure, one.request, answer)
		if err == nil {
			return strings.Join(header.Get("x-idempotent"), ","), nil
		}
		if _, reason := reasonOf(err); reason != "CONTENTION" && reason != "RATE_LIMITED" {
			return "", err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return "", err
		}
	}
	return "", errors.New("it is not answered for contention")
}

// compare holds what callers were told against what the database has.
func (l *load) compare(t *truth) {
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
			l.failures = append(l.failures, fmt.Sprintf("%s was made %d times", note, len(bookings)+len(entries)))
		}
		if len(bookings) == 1 && len(entries) == 1 && (entries[0].Booking == nil || *entries[0].Booking != bookings[0].ID) {
			l.failures = append(l.failures, fmt.Sprintf("%s is a booking and a place in line that have nothing to do with each other", note))
		}
	}
	type known struct {
		made, refused, doubtful, touched, gone bool
	}
	brief := make(map[string]bool)
	for _, round := range l.all {
		for _, a := range round.arenas {
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
		making := op.Kind == history.Book || op.Kind == history.Hold
		switch {
		case op.Outcome == history.Unknown:
			k.doubtful = true
		case making && (op.Outcome == history.Booked || op.Outcome == history.Waits || op.Outcome == history.Done):
			k.made = true
		case making:
			k.refused = true
		case op.Outcome == history.Done && (op.Kind == history.Cancel || op.Kind == history.Release || op.Kind == history.Decline):
			k.gone = true
		}
		k.touched = k.touched || !making || op.Kind == history.Hold || brief[op.Session] // where holds and offers run out
	}
	for number, k := range places {
		rows := t.byNote[noteOf(number)]
		alive := slices.ContainsFunc(rows, func(r row) bool {
			return r.Status == "PENDING" || r.Status == "CONFIRMED" || r.Status == "WAITING" || r.Status == "OFFERED"
		})
		var wrong string
		switch {
		case k.made && len(rows) == 0:
			wrong = "was acknowledged, and is not there"
		case k.refused && !k.doubtful && len(rows) > 0:
			wrong = "was refused, and is there"
		case k.gone && alive:
			wrong = "was given up, and is there"
		case k.made && !k.touched && !alive:
			wrong = "was acknowledged, and is over though nobody gave it up"
		default:
			continue
		}
		l.failures = append(l.failures, fmt.Sprintf("%s %s: %v", noteOf(number), wrong, rows))
	}
}

// complete adds to the histories what nobody was told: which holds and offers ran out, which places the looks saw, and
// how everything was in the end.
func (l *load) complete(t *truth) {
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
	standing := map[string]history.Status{
		"PENDING": history.Held, "CONFIRMED": history.Confirmed, "WAITING": history.Waiting, "OFFERED": history.Offered,
	}
	for _, round := range l.all {
		for _, a := range round.arenas {
			last := history.Operation{Kind: history.Look, Session: a.ID, Called: end + 1, Returned: end + 2, Outcome: history.Done, Taken: new(t.taken[a.ID]), Note: "the end"}
			for _, r := range t.rows {
				if status, is := standing[r.Status]; is && r.Session == a.ID {
					last.Seen = append(last.Seen, history.Seat{Place: r.place(), Status: status})
				}
			}
			l.operations = append(l.operations, last)
		}
		for _, ledger := range round.ledgers {
			l.operations = append(l.operations, history.Operation{
				Kind: history.Balance, Payer: ledger.ID, Called: end + 1, Returned: end + 2, Outcome: history.Done, Left: t.balances[ledger.ID], Note: "the end",
			})
		}
	}
}

// perHistory bounds the search for an order in one history.
const perHistory = 2 * time.Minute

// perLook bounds each of the searches by which a history is made smaller.
const perLook = 2 * time.Second

// judge looks for an order in every history, and keeps those for which there is none.
func (l *load) judge(folder string, r *Report) error {
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
		if v.Sound() {
			return nil
		}
		name := strings.ReplaceAll(v.Name, " ", "-")
		small := v.Smallest(perLook)
		l.failures = append(l.failures, fmt.Sprintf("%s: no order explains its %d operations (%s); see %s.html, and %s-smallest.html:\n%s",
			v.Name, len(v.Operations()), v.Result, name, name, small))
		return errors.Join(keepHistory(filepath.Join(folder, name), v, of), keepHistory(filepath.Join(folder, name+"-smallest"), small, of))
	}
	for _, round := range l.all {
		for _, hall := range round.halls {
			var of []history.Session
			var all []history.Operation
			for _, a := range hall {
				of, all = append(of, a.Session), append(all, bySession[a.ID]...)
			}
			if err := check(history.CheckSessions(of, all, perHistory), of); err != nil {
				return err
			}
		}
		for _, ledger := range round.ledgers {
			if err := check(history.CheckLedger(ledger, byPayer[ledger.ID], perHistory), ledger); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepHistory writes a history as data and as a page.
func keepHistory(path string, v history.Verdict, of any) error {
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
	return errors.Join(v.Draw(page), page.Close())
}
