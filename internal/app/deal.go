package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// A deal is a use case about seats. It is settled in one transaction with others, or alone, and cannot
// tell the difference: what all of them load travels together, each decides over the facts as those before it left
// them, and what all of them write travels together, with the COMMIT.
type deal interface {
	// load asks for the facts. It may be called several times, and starts afresh each time.
	load(t *tx, facts *pg.Batch)
	// more asks, once, for what depends on what load gave, if anything does.
	more(t *tx, facts *pg.Batch)
	// settle decides, and applies what follows. Of the facts only the slots are shared, and it keeps them as they will
	// be. It refuses before it writes; one that must read more once it knows the facts does so with t.Load,
	// and is then settled by itself.
	settle(ctx context.Context, t *tx) error
}

// table is what the deals of one attempt at a transaction share.
type table struct {
	alone   bool
	careful bool // the database has refused something here: read what otherwise only constraints guard
	slots   map[tenant.SessionID]*booking.Slot
	queued  map[tenant.SessionID]*int              // in their queues, where a deal may free seats
	wanted  map[tenant.SessionID]int               // seats that all deals together may take
	due     map[tenant.SessionID][]booking.Booking // holds that have run out
	version int64                                  // of the house that is in force
	house   *booking.House
	plans   []tenant.PlanID // that the house must know
}

func newTable(alone, careful bool) *table {
	return &table{
		alone: alone, careful: careful,
		slots: make(map[tenant.SessionID]*booking.Slot), queued: make(map[tenant.SessionID]*int), wanted: make(map[tenant.SessionID]int),
	}
}

// errAlone says that a deal cannot be settled together with others, or not before its turn at what it wants.
var errAlone = errors.New("app: this deal goes by itself")

// errRepeated says that the idempotency key of a deal was used before.
var errRepeated = errors.New("app: an earlier request had this key")

// deal runs a use case about seats. As to the options it is like write.
func (a *App) deal(ctx context.Context, caller tenant.Caller, name string, d deal, about subjects, options ...option) error {
	var w writing
	for _, option := range options {
		option(&w)
	}
	if w.answers != nil {
		w.key = keyOf(ctx)
	}
	if w.key != nil {
		about.sole = append(about.sole, subject("key", caller.Actor(), w.key.Procedure, w.key.Text))
	}
	_, alone := d.(whole)
	const looks = 5
	for look := 1; ; look++ {
		err := a.lanes.do(&waiting{
			writing: w, ctx: ctx, caller: caller, request: requestOf(ctx), name: name, deal: d, about: about, alone: alone || about.alone,
		})
		if errors.Is(err, errRepeated) {
			var recalled bool
			if recalled, err = a.recall(ctx, caller, w.key, w.answers...); err == nil && !recalled {
				err = errForgotten
			}
		}
		if look == looks || !errors.Is(err, errForgotten) {
			return err
		}
	}
}

// errMoved says that a booking is in another session than when its deal was queued.
var errMoved = errors.New("app: the booking has moved")

// dealAt is deal for what names a booking, or an entry: of makes it, knowing where that is.
func (a *App) dealAt(ctx context.Context, caller tenant.Caller, name string, id tenant.BookingID, of func(at bookingdb.Visit) deal, options ...option) error {
	const looks = 5
	for look := 1; ; look++ {
		var found *bookingdb.Visit
		var queue *waitlist.Queue
		var batch pg.Batch
		bookingdb.FindVisit(&batch, caller.Tenant, id, &found, &queue)
		if err := a.read(ctx, caller, &batch); err != nil {
			return err
		}
		at, about := bookingdb.Visit{}, subjects{sole: []tenant.UUID{id.UUID}}
		if found != nil {
			at, about.changes = *found, !found.Waits
			if !at.Session.IsZero() { // else a wish for one of several, or for a window
				about.shared = append(about.shared, at.Session.UUID)
			}
			if !at.Member.IsZero() {
				about.sole = append(about.sole, at.Member.UUID)
			}
		}
		d := of(at)
		if moves, ok := d.(interface{ movesQueue() bool }); ok && queue != nil && moves.movesQueue() {
			about.shared, about.alone = append(about.shared, waitlistOf(*queue)), true
		}
		if also, ok := d.(interface{ also() tenant.SessionID }); ok {
			about.shared = append(about.shared, also.also().UUID)
		}
		if err := a.deal(ctx, caller, name, d, about, options...); look == looks || !errors.Is(err, errMoved) {
			return err
		}
	}
}

// whole is a use case that takes its turn among the deals of a session, and is a transaction of its own. What it sets for
// its caller is the caller's only where it comes to no error: who gave up does not wait for it.
type whole func(ctx context.Context, t *tx) error

func (whole) load(*tx, *pg.Batch) {}

func (whole) more(*tx, *pg.Batch) {}

func (w whole) settle(ctx context.Context, t *tx) error { return w(ctx, t) }

func (whole) movesQueue() bool { return true }

// dealOn runs a use case about an offer as a whole.
func (a *App) dealOn(ctx context.Context, caller tenant.Caller, name string, id tenant.OfferID, fn whole, options ...option) error {
	var o *waitlist.Offer
	var batch pg.Batch
	waitlistdb.FindOffer(&batch, caller.Tenant, id, &o)
	if err := a.read(ctx, caller, &batch); err != nil {
		return err
	}
	var about subjects
	if o != nil {
		about = subjects{shared: []tenant.UUID{o.Session.UUID, waitlistOf(o.Queue)}, sole: []tenant.UUID{o.Member.UUID}}
	}
	return a.deal(ctx, caller, name, fn, about, options...)
}

// subject is a name for something that only one deal may be about at a time.
func subject(kind string, parts ...string) tenant.UUID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q", kind, parts))
	return tenant.UUID(sum[:16])
}

// waitlistOf names what all deals are about that put people in line for a service at a location, or take them out of it. Wishes for windows
// stand in the queues of several days: what becomes of one of them is read by the next.
func waitlistOf(q waitlist.Queue) tenant.UUID {
	return subject("waitlist", q.Location.String(), q.Service.String())
}

// takeTurn lets a deal go on that moves queues if it came for that. Else it goes back, and has its turn when it comes
// again: two that take from one line at a moment would only fail each other. So they would on two nodes, where who has failed waits in line.
func (t *tx) takeTurn(queues ...waitlist.Queue) error {
	for _, q := range queues {
		line := waitlistOf(q)
		t.QueueAgainOn(lockOf(t.in, line))
		if t.deal != nil && !slices.Contains(t.deal.about.shared, line) && !slices.Contains(t.deal.wants, line) {
			t.deal.wants = append(t.deal.wants, line)
		}
	}
	if t.deal != nil && len(queues) > 0 && (t.together() || len(t.deal.wants) > 0) {
		return errAlone
	}
	return nil
}

// settleTogether settles what a lane took from a queue. What cannot be settled with the others it gives back, in
// the order in which it came.
func (a *App) settleTogether(all []*waiting) (rejoin []*waiting) {
	if len(all) == 1 {
		err := a.settleAlone(all[0])
		if errors.Is(err, errAlone) {
			return all // it waits for its turn
		}
		all[0].done <- err
		return nil
	}
	batch := all
	back := make(map[*waiting]bool)
	giveBack := func(some ...*waiting) {
		for _, w := range some {
			back[w] = true
		}
	}
	for careful, parted := false, 0; len(batch) > 0; {
		outcomes, err := a.attemptDeals(batch, careful)
		var apart *apartError
		switch {
		case errors.As(err, &apart) && parted < mostParted:
			// Decide again without it, and without those who came after it about the same things.
			parted++
			var without []*waiting
			batch, without = splitFrom(batch, apart.at)
			giveBack(without...)
			continue
		case violation(err) && !careful:
			careful = true // which finds out whose fault it was, as a rule
			continue
		case apart != nil, pg.Code(err) != "":
			giveBack(batch...) // one by one: what fails for one must not fail the others
		default:
			for i, w := range batch {
				switch {
				case err == nil && errors.Is(outcomes[i], errAlone), err != nil && w.again(err):
					giveBack(w)
				case err == nil:
					w.done <- outcomes[i]
				default:
					w.done <- err
				}
			}
		}
		break
	}
	return slices.DeleteFunc(slices.Clone(all), func(w *waiting) bool { return !back[w] })
}

// mostParted bounds how often a batch is settled again without one of its deals; each time costs as much as a batch.
const mostParted = 3

// splitFrom takes a deal out of a batch, and all later ones about the same things.
func splitFrom(batch []*waiting, at int) (stay, back []*waiting) {
	about := make(map[tenant.UUID]struct{})
	for i, w := range batch {
		if i == at || i > at && w.about.anyIn(about) {
			w.about.addTo(about)
			back = append(back, w)
		} else {
			stay = append(stay, w)
		}
	}
	return stay, back
}

// settleAlone settles one deal, and looks again where it lost a race that a fresh look may settle.
func (a *App) settleAlone(w *waiting) error {
	const looks = 5
	for look := 1; ; look++ {
		_, err := a.attemptDeals([]*waiting{w}, look > 1)
		if err == nil || look == looks || !w.again(err) && (look > 1 || !violation(err)) {
			return err
		}
	}
}

// violation reports whether a constraint guarded what a deal had not read.
func violation(err error) bool { return pg.IsUnique(err) || pg.IsExclusion(err) || pg.IsCheck(err) }

// apartError ends an attempt because of one deal that can be settled by itself only.
type apartError struct {
	at    int
	cause error
}

func (e *apartError) Error() string { return "app: a deal goes by itself: " + e.cause.Error() }

// attemptDeals settles a batch in one transaction. The outcomes are those of its deals, and hold if it was committed. The
// error of a single deal is that of the attempt.
func (a *App) attemptDeals(batch []*waiting, careful bool) ([]error, error) {
	ctx, cancel := patience(batch)
	defer cancel()
	first := batch[0].caller
	now := a.now()
	mint := tenant.NewMint(now)
	outcomes := make([]error, len(batch))
	attempts := 0
	err := a.db.InTx(ctx, pg.Scope{Tenant: first.Tenant}, nameOf(batch), func(ctx context.Context, db *pg.Tx) error {
		attempts++
		mint.Again()
		shared := newTable(len(batch) == 1, careful)
		txs := make([]*tx, len(batch))
		for i, w := range batch {
			w.effects = effects{}
			txs[i] = &tx{
				Tx: db, in: first.Tenant, caller: w.caller, request: w.request, now: now, mint: mint, table: shared, deal: w, claims: a.claims, effects: &w.effects,
			}
		}
		claims, err := a.facts(ctx, batch, txs)
		if err != nil {
			return err
		}
		back := make(map[tenant.UUID]struct{})
		for i, w := range batch {
			claim, before := claims[i], db.Changes()
			switch {
			case claim != nil && claim.used:
				outcomes[i] = errRepeated
				continue
			case w.about.anyIn(back):
				outcomes[i] = errAlone
			default:
				outcomes[i] = settleOne(ctx, w, txs[i])
			}
			switch {
			case outcomes[i] == nil && claim != nil:
				outcomes[i] = w.keep(txs[i], claim.Claim)
			case outcomes[i] != nil && db.Changes() > before && !shared.alone:
				return &apartError{i, outcomes[i]} // it has left something behind
			case outcomes[i] != nil && claim != nil:
				coredb.GiveKeyBack(db, first.Tenant, claim.Claim) // what is refused uses no key up
			}
			if errors.Is(outcomes[i], errAlone) {
				w.about.addTo(back)
			}
		}
		if shared.alone {
			return outcomes[0]
		}
		return nil
	}, a.line(batch)...)
	if attempts > 1 {
		a.crowds.begin(first.Tenant, now.Add(crowdedFor))
	}
	if err == nil {
		a.committed(first.Tenant)
		for i, w := range batch {
			if outcomes[i] == nil {
				a.follow(first.Tenant, &w.effects)
			}
		}
	}
	return outcomes, err
}

// settleOne keeps a bug in one deal from ending the process, which answers many.
func settleOne(ctx context.Context, w *waiting, t *tx) (err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("panic: %v\n%s", recovered, debug.Stack())
		}
	}()
	return w.deal.settle(ctx, t)
}

// claimed is a claim on an idempotency key; used says that it came too late.
type claimed struct {
	coredb.Claim
	used bool
}

// facts loads what the deals of a batch look at, in one round trip; in more where the house has changed, or one fact
// asks for another. It claims their idempotency keys, too, ahead of all else.
func (a *App) facts(ctx context.Context, batch []*waiting, txs []*tx) ([]*claimed, error) {
	t := txs[0]
	var facts pg.Batch
	claims := make([]*claimed, len(batch))
	byKey := make(map[string]*claimed)
	var asked []coredb.Claim
	for i, w := range batch {
		if w.key != nil {
			claims[i] = &claimed{w.key.claim(w.caller, t.now), true}
			byKey[claims[i].Name()] = claims[i]
			asked = append(asked, claims[i].Claim)
		}
	}
	coredb.ClaimKeys(&facts, t.in, asked, func(c coredb.Claim) { byKey[c.Name()].used = false })
	coredb.FindHouseVersion(&facts, t.in, &t.table.version)
	for i, w := range batch {
		w.deal.load(txs[i], &facts)
	}
	if err := t.Tx.Load(ctx, &facts); err != nil {
		return nil, err
	}
	if err := a.furnish(ctx, t); err != nil {
		return nil, err
	}
	var more pg.Batch
	t.table.due = make(map[tenant.SessionID][]booking.Booking)
	var due []*[]booking.Booking
	for id, slot := range t.table.slots {
		if slot.Holds > 0 {
			found := new([]booking.Booking)
			bookingdb.ListDueHolds(&more, t.in, id, t.now, found)
			due = append(due, found)
		}
	}
	for i, w := range batch {
		w.deal.more(txs[i], &more)
	}
	if more.Len() > 0 {
		if err := t.Tx.Load(ctx, &more); err != nil {
			return nil, err
		}
	}
	for _, found := range due {
		for _, b := range *found {
			t.table.due[b.Session] = append(t.table.due[b.Session], b)
		}
	}
	return claims, nil
}

// furnish gives the slots what the house says of them. It reads the house where the one that is kept is not in force any more.
func (a *App) furnish(ctx context.Context, t *tx) error {
	t.table.house = a.houses.at(t.in, t.table.version)
	if t.table.furnish(t.in) {
		return nil
	}
	t.table.house = new(booking.House)
	var facts pg.Batch
	coredb.FindHouse(&facts, t.in, t.table.house)
	if err := t.Tx.Load(ctx, &facts); err != nil {
		return err
	}
	a.houses.keep(t.in, t.table.house)
	t.table.furnish(t.in)
	return nil
}

func (t *table) furnish(in tenant.TenantID) bool {
	known := true
	for _, id := range t.plans {
		known = known && t.house.Knows(id)
	}
	for _, slot := range t.slots {
		complete, ok := t.house.Complete(*slot, in)
		*slot, known = complete, known && ok
	}
	return known
}

// patience is the context of a batch: it lasts as long as the most patient of its callers would wait. That one of
// them leaves changes nothing for the others.
func patience(batch []*waiting) (context.Context, context.CancelFunc) {
	var last time.Time
	for _, w := range batch {
		deadline, ok := w.ctx.Deadline()
		if !ok {
			return context.WithCancel(context.WithoutCancel(w.ctx))
		}
		if deadline.After(last) {
			last = deadline
		}
	}
	return context.WithDeadline(context.WithoutCancel(batch[0].ctx), last)
}

// nameOf names a transaction after what all its deals are.
func nameOf(batch []*waiting) string {
	for _, w := range batch {
		if w.name != batch[0].name {
			return "booking.mixed"
		}
	}
	return batch[0].name
}

// findSlot asks for a session. All deals of a batch share what they get, so that each finds it as the ones before
// left it. With it come the holds in it that have run out.
func (t *tx) findSlot(b *pg.Batch, id tenant.SessionID, into **booking.Slot) {
	*into = nil
	bookingdb.FindOwnSlot(b, t.in, id, func(s booking.Slot) {
		if t.table.slots[id] == nil {
			s.Queued = t.table.queued[id]
			t.table.slots[id] = &s
		}
		*into = t.table.slots[id]
	})
}

// findAwaited is findSlot for a deal that may free seats there: it asks for how many wait, too.
func (t *tx) findAwaited(b *pg.Batch, id tenant.SessionID, into **booking.Slot) {
	t.findSlot(b, id, into)
	if t.table.queued[id] == nil {
		t.table.queued[id] = new(int)
		waitlistdb.FindQueueSize(b, t.in, id, t.table.queued[id])
	}
}

// Load reads more facts, which a deal may do by itself only.
func (t *tx) Load(ctx context.Context, batch *pg.Batch) error {
	if t.together() {
		return errAlone
	}
	return t.Tx.Load(ctx, batch)
}

// together reports whether the transaction is shared with other deals.
func (t *tx) together() bool { return t.table != nil && !t.table.alone }
