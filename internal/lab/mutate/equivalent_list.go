package mutate

import (
	"slices"
	"strings"
)

// equivalents lists the equivalent mutants. Each says why no caller can tell.
var equivalents = slices.Concat(emptyLists(), tuning(), anyOrder(), freeing(), readLess(), []Equivalent{
	{
		Package: "internal/rules/credit", Function: "(*Subscription).Adjust",
		Old: "if amount < 0 {", New: "if amount <= 0 {",
		Reason: "a line with amount 0 is left out, so its kind is never seen",
	},
	{
		Package: "internal/rules/credit", Function: "(*Subscription).Adjust",
		Old: "if amount < 0 {", New: "if amount < 1 {",
		Reason: "a line with amount 0 is left out, so its kind is never seen",
	},
	{
		Package: "internal/rules/booking", Function: "tooLate",
		Old:    "hours := strconv.FormatFloat(window.Hours(), 'f', -1, 64)",
		New:    "hours := strconv.FormatFloat(window.Hours(), 'f', -2, 64)",
		Reason: "any negative precision means the shortest text",
	},
	{
		Package: "internal/rules/booking", Function: "Reschedule",
		Old:    "if err := withoutMoved(*payer, from, to).CheckQuota(to.LocalDate); err != nil {",
		New:    "if err := withoutMoved(*payer, to, from).CheckQuota(to.LocalDate); err != nil {",
		Reason: "it only compares the days and weeks of both, which is symmetric",
	},
	{
		Package: "internal/rules/catalog", Function: "elapsed",
		Old:    `return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"`,
		New:    `return strconv.FormatFloat(d.Seconds(), 'f', -2, 64) + "s"`,
		Reason: "any negative precision means the shortest text",
	},
	{
		Package: "internal/rules/catalog", Function: "Resolve",
		Old: "for _, l := range layers[1:] {", New: "for _, l := range layers[0:] {",
		Reason: "the rules begin with the first layer, and applying it again changes nothing",
	},
	{
		Package: "internal/rules/member", Function: "Edit",
		Old: "changed := ChangedFields(before, after)", New: "changed := ChangedFields(after, before)",
		Reason: "the names of the fields that differ are the same both ways",
	},
	{
		Package: "internal/app/accounts", Function: "insertMember",
		Old:    "changed := member.ChangedFields(member.Member{}, m)",
		New:    "changed := member.ChangedFields(m, member.Member{})",
		Reason: "the names of the fields that differ are the same both ways",
	},
	{
		Package: "internal/app/messages", Function: "(*Service).feedSecret",
		Old:    `slices.Concat(caller.Member.UUID[:], seed)`,
		New:    `slices.Concat(seed, caller.Member.UUID[:])`,
		Reason: "the secret is random either way, and what is stored is the secret",
	},
	{
		Package: "internal/rules/member", Function: "phone",
		Old:    `number, err := phonenumbers.Parse(s, "ZZ") // no default region: the country code is required`,
		New:    `number, err := phonenumbers.Parse(s, "") // no default region: the country code is required`,
		Reason: "the region is only read for a number without +, which is rejected before",
	},
	{
		Package: "internal/civil", Function: "(Date).utc",
		Old:    "return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)",
		New:    "return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 1, time.UTC)",
		Reason: "only whole seconds of it are used",
	},
	{
		Package: "internal/civil", Function: "offsetAt",
		Old:    "_, offset := time.Unix(instant, 0).In(zone).Zone()",
		New:    "_, offset := time.Unix(instant, 1).In(zone).Zone()",
		Reason: "offsets change at whole seconds",
	},
	{
		Package: "internal/rules/checkin", Function: "checkPosition",
		Old: "distance, err := Distance(*f.Location, at.Point)", New: "distance, err := Distance(at.Point, *f.Location)",
		Reason: "the distance is the same both ways",
	},
	{
		Package: "internal/rules/brand", Function: "(Color).luminance",
		Old: "if v <= 0.04045 {", New: "if v < 0.04045 {",
		Reason: "no part of a color is 0.04045 of 255",
	},
	{
		Package: "internal/rules/brand", Function: "(Color).TextColor",
		Old: "if c.Contrast(White) >= MinTextContrast {", New: "if c.Contrast(White) > MinTextContrast {",
		Reason: "no color has a contrast of exactly 4.5 with white",
	},
	{
		Package: "internal/rules/brand", Function: "(Color).mix",
		Old:    "part := func(a, b uint8) uint8 { return uint8((int(a)*(100-percent) + int(b)*percent + 50) / 100) }",
		New:    "part := func(a, b uint8) uint8 { return uint8((int(a)*(100-percent) + int(b)*percent + 51) / 100) }",
		Reason: "percentages are multiples of five, so the remainder never is 49",
	},
	{
		Package: "internal/rules/session", Function: "(Series).Facts",
		Old:    `facts["duration"] = strconv.FormatFloat(s.Duration.Seconds(), 'f', -1, 64) + "s"`,
		New:    `facts["duration"] = strconv.FormatFloat(s.Duration.Seconds(), 'f', -2, 64) + "s"`,
		Reason: "any negative precision means the shortest text",
	},
	{
		Package: "internal/rules/session", Function: "(Session).Edit",
		Old:    "if err := checkStart(span.Start, now); err != nil {",
		New:    "if err := checkStart(now, span.Start); err != nil {",
		Reason: "the distance is limited the same way in the past and in the future",
	},
	{
		Package: "internal/rules/session", Function: "align",
		Old: "least := make([][]float64, n+1)", New: "least := make([][]float64, n+2)",
		Reason: "the last row is not read",
	},
	{
		Package: "internal/rules/session", Function: "align",
		Old: "least[i] = make([]float64, m+1)", New: "least[i] = make([]float64, m+2)",
		Reason: "the last column is not read",
	},
	{
		Package: "internal/rules/session", Function: "align",
		Old: "skip := math.Inf(1)", New: "skip := math.Inf(2)",
		Reason: "any sign that is not negative gives the same infinity",
	},
	{
		Package: "internal/rules/session", Function: "align",
		Old: "skip := math.Inf(1)", New: "skip := math.Inf(0)",
		Reason: "any sign that is not negative gives the same infinity",
	},
	{
		Package: "internal/rules/session", Function: "align",
		Old: "paired[i] = -1", New: "paired[i] = -2",
		Reason: "any negative index means no occurrence",
	},
	{
		Package: "internal/rules/recurrence", Function: "numbers",
		Old: "n, err := strconv.ParseUint(digits, 10, 16)", New: "n, err := strconv.ParseUint(digits, 10, 17)",
		Reason: "the number must be in a smaller range",
	},
	{
		Package: "internal/rules/delivery", Function: "(*Breaker).Allow",
		Old: "return 0, b.until, false", New: "return 1, b.until, false",
		Reason: "a permit without ok is none",
	},
	{
		Package: "internal/rules/delivery", Function: "(*Breaker).Allow",
		Old: "b.generation++", New: "b.generation--",
		Reason: "generations are only compared for equality",
	},
	{
		Package: "internal/rules/delivery", Function: "(*Breaker).open",
		Old: "b.generation++", New: "b.generation--",
		Reason: "generations are only compared for equality",
	},
	{
		Package: "internal/rules/delivery", Function: "providerFailed",
		Old: "return err != nil, 0", New: "return err != nil, 1",
		Reason: "a nanosecond is shorter than every pause",
	},
	{
		Package: "internal/rules/notify", Function: "(QuietHours).next",
		Old: "minutes := int(at.Sub(from)/time.Minute) + 1", New: "minutes := int(at.Sub(from)/time.Minute) + 2",
		Reason: "a longer range has the same first minute that is not quiet",
	},
	{
		Package: "internal/rules/notify", Function: "(QuietHours).next",
		Old:    "if left := q.End.SinceMidnight() - clock.SinceMidnight(); left > 0 {",
		New:    "if left := q.End.SinceMidnight() - clock.SinceMidnight(); left > 1 {",
		Reason: "times of day are whole seconds",
	},
	{
		Package: "internal/rules/payment", Function: "next",
		Old:    "e.Captured, fits = add(e.Captured, f.Amount)",
		New:    "e.Captured, fits = add(f.Amount, e.Captured)",
		Reason: "the sum is the same both ways",
	},
	{
		Package: "internal/rules/payment", Function: "next",
		Old:    "e.Refunded, fits = add(e.Refunded, f.Amount)",
		New:    "e.Refunded, fits = add(f.Amount, e.Refunded)",
		Reason: "the sum is the same both ways",
	},
	{
		Package: "internal/rules/member", Function: "Country",
		Old:    `number, err := phonenumbers.Parse(phone, "ZZ")`,
		New:    `number, err := phonenumbers.Parse(phone, "")`,
		Reason: "the region is only read for a number without +, and neither is one",
	},
	{
		Package: "internal/rules/member", Function: "phone",
		Old:    `again, err := phonenumbers.Parse(formatted, "ZZ")`,
		New:    `again, err := phonenumbers.Parse(formatted, "")`,
		Reason: "the region is only read for a number without +",
	},
	{
		Package: "internal/rules/catalog", Function: "(StepUp).Check",
		Old:    "recent := s.MaxAge > 0 && !signedInAt.IsZero() && !now.After(signedInAt.Add(s.MaxAge))",
		New:    "recent := s.MaxAge > 1 && !signedInAt.IsZero() && !now.After(signedInAt.Add(s.MaxAge))",
		Reason: "the shortest age is a minute",
	},
	{
		Package: "internal/rules/catalog", Function: "(StepUp).Check",
		Old:    "if s.MaxAge > 0 {",
		New:    "if s.MaxAge > 1 {",
		Reason: "the shortest age is a minute",
	},
	{
		Package: "internal/rules/catalog", Function: "(Service).Validate",
		Old:    `number("service.max_party", &s.MaxParty, 1, maxParty),`,
		New:    `number("service.max_party", &s.MaxParty, 0, maxParty),`,
		Reason: "zero is below min_party, which gives the same error",
	},
	{
		Package: "internal/rules/recurrence", Function: "(*Rule).set",
		Old:    `case "BYWEEKNO":`,
		New:    `case "":`,
		Reason: "every other name is refused in the same way, in other words",
	},
	{
		Package: "internal/rules/recurrence", Function: "(*Rule).set",
		Old:    `case "BYSECOND":`,
		New:    `case "":`,
		Reason: "every other name is refused in the same way, in other words",
	},
	{
		Package: "internal/rules/recurrence", Function: "(*Rule).checkSatisfiable",
		Old:    "if _, ok := every.days(civil.Date{Year: rrule.MAXYEAR - 27, Month: time.January, Day: 1})(); !ok {",
		New:    "if _, ok := every.days(civil.Date{Year: rrule.MAXYEAR - 27, Month: time.January, Day: 2})(); !ok {",
		Reason: "the first of January is the same day of the week in a later year, too",
	},
	{
		Package: "internal/rules/recurrence", Function: "(*Rule).checkSatisfiable",
		Old:    "if _, ok := every.days(civil.Date{Year: rrule.MAXYEAR - 27, Month: time.January, Day: 1})(); !ok {",
		New:    "if _, ok := every.days(civil.Date{Year: rrule.MAXYEAR - 28, Month: time.January, Day: 1})(); !ok {",
		Reason: "one more year has no other days",
	},
	{
		Package: "internal/rules/recurrence", Function: "parseDays",
		Old:    "nth, err := numbers(part, value[:split], 1, 53, true)",
		New:    "nth, err := numbers(part, value[:split], 1, 54, true)",
		Reason: "checkOrdinals has the same limit",
	},
	{
		Package: "internal/rules/recurrence", Function: "(Rule).days",
		Old:    "ahead := max(0, (rrule.MAXYEAR-horizon-start.Year)/cycle*cycle)",
		New:    "ahead := max(0, (rrule.MAXYEAR-horizon-start.Year)/cycle/cycle)",
		Reason: "the calendar repeats; only the search for a day that never comes takes longer",
	},
	{
		Package: "internal/rules/recurrence", Function: "(Rule).weekdays",
		Old:    "if !slices.ContainsFunc(r.day, isOrdinal) {\nreturn r.day\n}",
		New:    "",
		Reason: "all ordinals of a weekday are that weekday",
	},
	{
		Package: "internal/rules/recurrence", Function: "(Series).rule",
		Old:    "if s.Rule.count == 0 && day.Before(since) {\ncontinue\n}",
		New:    "",
		Reason: "Expand skips these days too, only later",
	},
	{
		Package: "internal/rules/recurrence", Function: "(Series).rule",
		Old:    "ended = true",
		New:    "ended = false",
		Reason: "UNTIL is before all later days too; they only take longer",
	},
	{
		Package: "internal/rules/recurrence", Function: "(Series).rule",
		Old:    "ended = true",
		New:    "",
		Reason: "UNTIL is before all later days too; they only take longer",
	},
	{
		Package: "internal/rules/recurrence", Function: "(Series).rule",
		Old:    "if ended {\nreturn\n}",
		New:    "",
		Reason: "UNTIL is before all later days too; they only take longer",
	},
	{
		Package: "internal/rules/recurrence", Function: "(Series).Expand",
		Old:    "since := civil.DateOf(from, s.Zone).AddDays(-1) // a local time in a gap can belong to the day before",
		New:    "since := civil.DateOf(from, s.Zone).AddDays(-2) // a local time in a gap can belong to the day before",
		Reason: "what starts before from is skipped",
	},
	{
		Package: "internal/rules/session", Function: "(Session).reschedule",
		Old:    "if length := span.Length(); length <= 0 || length > MaxLength {",
		New:    "if length := span.Length(); length <= 1 || length > MaxLength {",
		Reason: "times are whole microseconds",
	},
	{
		Package: "internal/rules/session", Function: "(*ImportRow).Span",
		Old:    "return span, r.Date.In(zone) && span.Length() > 0",
		New:    "return span, r.Date.In(zone) && span.Length() > 1",
		Reason: "times are whole minutes",
	},
	{
		Package: "internal/rules/session", Function: "allFields",
		Old:    "allFields = 1<<iota - 1",
		New:    "allFields = 2<<iota - 1",
		Reason: "no field has the other bit",
	},
	{
		Package: "internal/rules/session", Function: "AllPatternFields",
		Old:    "AllPatternFields = 1<<iota - 1",
		New:    "AllPatternFields = 2<<iota - 1",
		Reason: "no field has the other bit",
	},
	{
		Package: "internal/rules/session", Function: "parseImportNumber",
		Old:    `return 0, fmt.Sprintf("%s is not a whole number from %d to %d.", csvfile.Quote(text), low, high)`,
		New:    `return 1, fmt.Sprintf("%s is not a whole number from %d to %d.", csvfile.Quote(text), low, high)`,
		Reason: "a row with a problem creates nothing",
	},
	{
		Package: "internal/rules/session", Function: "align",
		Old:    "case i < j:",
		New:    "case i <= j:",
		Reason: "as many sessions as occurrences are always paired",
	},
	{
		Package: "internal/rules/waitlist", Function: "loadZone",
		Old:    "if zone, ok := zones.Load(name); ok {\nreturn zone.(*time.Location)\n}",
		New:    "{ zone, ok := zones.Load(name); _ = zone; _ = ok }",
		Reason: "the zone is loaded again, and is the same",
	},
	{
		Package: "internal/rules/waitlist", Function: "(*scene).offerEnd",
		Old:    "s.ends[name] = end",
		New:    "",
		Reason: "the end is computed again, and is the same",
	},
	{
		Package: "internal/rules/waitlist", Function: "MoveBefore",
		Old:    "moved.Keys[entry] = target.Key - 1<<keyRoom",
		New:    "moved.Keys[entry] = target.Key - 2<<keyRoom",
		Reason: "any smaller key sorts before the target, with room between",
	},
	{
		Package: "internal/rules/waitlist", Function: "(Rules).OfferUntil",
		Old:    "if left < least || left <= 0 {",
		New:    "if left < least || left <= 1 {",
		Reason: "times are whole microseconds",
	},
	{
		Package: "internal/rules/waitlist", Function: "(QuietHours).addAwake",
		Old:    "if awake := night.Start.Sub(at); awake > 0 {",
		New:    "if awake := night.Start.Sub(at); awake > 1 {",
		Reason: "times are whole microseconds",
	},
	{
		Package: "internal/rules/waitlist", Function: "language",
		Old: "cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), " +
			"cel.ValidateRegexLiterals()),",
		New: "cel.ASTValidators(cel.ValidateTimestampLiterals(), cel.ValidateDurationLiterals(), " +
			"cel.ValidateRegexLiterals()),",
		Reason: "each looks at literals of its own",
	},
	{
		Package: "internal/rules/waitlist", Function: "(QuietHours).addAwake",
		Old:    "if night.Length() <= 0 || !night.End.After(at) {",
		New:    "if night.Length() < 0 || !night.End.After(at) {",
		Reason: "a night of no length takes no time from the offer",
	},
	{
		Package: "internal/rules/delivery", Function: "FoldToGSM",
		Old:    "if _, ok := gsmLengths(text); ok {\nreturn text\n}",
		New:    "{ _, ok := gsmLengths(text); _ = ok }",
		Reason: "a text of the alphabet is folded to itself",
	},
	{
		Package: "internal/rules/content", Function: "(locale).span",
		Old:    "case minutes%(24*60) == 0 && minutes > 24*60:",
		New:    "case minutes%(24*60) == 0 && minutes > 24*61:",
		Reason: "no whole number of days is between them",
	},
	{
		Package: "internal/rules/waitlist", Function: "(expressionKind).refuse",
		Old:    "return k.refuseAt(1, 1, format, args...)",
		New:    "return k.refuseAt(1, 0, format, args...)",
		Reason: "the least column is 1",
	},
	{
		Package: "internal/rules/waitlist", Function: "(expressionKind).refuse",
		Old:    "return k.refuseAt(1, 1, format, args...)",
		New:    "return k.refuseAt(0, 1, format, args...)",
		Reason: "the least line is 1",
	},
	{
		Package: "internal/rules/notify", Function: "(*planner).add",
		Old:    "n.ExpiresAt = latest(n.ExpiresAt, p.now.Add(mailLifetime))",
		New:    "n.ExpiresAt = latest(p.now.Add(mailLifetime), n.ExpiresAt)",
		Reason: "the later of two times is the same both ways",
	},
	{
		Package: "internal/rules/notify", Function: "(Recipient).capReached",
		Old: "return -1", New: "return -2",
		Reason: "only the sign is read",
	},
	{
		Package: "internal/rules/content", Function: "parseError",
		Old: "if end < 0 {", New: "if end <= 0 {",
		Reason: "an action begins with braces of its own, so its end is never there",
	},
	{
		Package: "internal/rules/content", Function: "mailTemplate",
		Old:    "var mailTemplate = htmltemplate.Must(htmltemplate.New(\"mail\").Parse(`<!doctype html>",
		New:    "var mailTemplate = htmltemplate.Must(htmltemplate.New(\"\").Parse(`<!doctype html>",
		Reason: "the name is only in errors, and it has none",
	},
	{
		Package: "internal/app/engine", Function: "(*batchRun).load",
		Old:    "if second.Len() == 0 {\nreturn nil\n}",
		New:    "",
		Reason: "a batch without statements is not sent",
	},
	{
		Package: "internal/pg", Function: "(*run).commit",
		Old:    "statements := make([]*Statement, 0, len(tx.pending)+2)",
		New:    "statements := make([]*Statement, 0, len(tx.pending)+3)",
		Reason: "it is a capacity",
	},
	{
		Package: "internal/data/outbox", Function: "(*tail).append",
		Old:    "segments = nil",
		New:    "",
		Reason: "a list without segments holds no events, only some memory",
	},
	{
		Package: "internal/data/outbox", Function: "(*feed).readNew",
		Old:    "if len(page.Records) > 0 {",
		New:    "if len(page.Records) >= 0 {",
		Reason: "a watcher that is woken and finds nothing waits again",
	},
	{
		Package: "internal/rpc/convert", Function: "ParsePage",
		Old: "if err != nil || len(raw) < QueryHashSize || " +
			"!bytes.Equal(raw[:QueryHashSize], p.queryHash[:]) {",
		New: "if err != nil || len(raw) <= QueryHashSize || " +
			"!bytes.Equal(raw[:QueryHashSize], p.queryHash[:]) {",
		Reason: "a token without a position has the same error, since no position is no JSON",
	},
	{
		Package: "internal/data/outbox", Function: "(*Record).addSeats",
		Old: "id[6] = id[6]&0x0f | 0x80", New: "id[6] = id[6]&0x0f | 129",
		Reason: "the lowest bit of the version's byte is any in a UUIDv8, and others tell the ids apart",
	},
	{
		Package: "internal/app/engine", Function: "enqueue",
		Old: "done := make(chan outcome, 1)", New: "done := make(chan outcome, 2)",
		Reason: "a task is answered once",
	},
	{
		Package: "internal/app/waitlists", Function: "(*join).checkWindow",
		Old: "return nil, checkNoOpenSeats(ctx, tx, *e, " +
			"civil.Span{Start: w.From.On(at.Zone), End: w.Until.AddDays(1).On(at.Zone)})",
		New: "return nil, checkNoOpenSeats(ctx, tx, *e, " +
			"civil.Span{Start: w.From.On(at.Zone), End: w.Until.AddDays(2).On(at.Zone)})",
		Reason: "of the sessions that it reads, those on other days than the window's are left out",
	},
	{
		Package: "internal/app/bookings", Function: "(*Service).addItems",
		Old: "if len(ids) == 0 {\nreturn nil\n}", New: "",
		Reason: "without ids it reads nothing, in a round trip more",
	},
	{
		Package: "internal/app/settings", Function: "(*Service).PreviewRules",
		Old:    "members = append(members, waitlists.DecisionMembers(d.Decision)...)",
		New:    "members = append(waitlists.DecisionMembers(d.Decision), members...)",
		Reason: "their names are read in any order",
	},
	{
		Package: "internal/app/accounts", Function: "editOfAdmin",
		Old:    `case has("email", "phone", "subject") && !self:`,
		New:    `case has("phone", "email", "subject") && !self:`,
		Reason: "any of them counts",
	},
	{
		Package: "internal/app/waitlists", Function: "(*Service).LeaveWaitlist",
		Old:    "_, locks, err := seats.Locator{ID: tenant.BookingID(id), Fills: true}.Locate(ctx, caller.Tenant, read)",
		New:    "_, locks, err := seats.Locator{ID: tenant.BookingID(id), Fills: false}.Locate(ctx, caller.Tenant, read)",
		Reason: "an operation that fills a queue asks for its lock, and runs again with it",
	},
	{
		Package: "internal/rpc/convert", Function: "(Page[C]).Limit",
		Old:    "func (p Page[C]) Limit() int { return p.Size + 1 }",
		New:    "func (p Page[C]) Limit() int { return p.Size + 2 }",
		Reason: "a second row more is cut off, too",
	},
	{
		Package: "internal/token", Function: "readLimited",
		Old:    "document, err := io.ReadAll(io.LimitReader(r, maxDocument+1))",
		New:    "document, err := io.ReadAll(io.LimitReader(r, maxDocument+2))",
		Reason: "one byte above the limit is enough to refuse the document",
	},
	{
		Package: "internal/app/bookings", Function: "(*Service).GetDisplay",
		Old: "d.Refresh = earliest(d.Refresh, d.Opens)", New: "d.Refresh = earliest(d.Opens, d.Refresh)",
		Reason: "the earlier of two times does not depend on their order",
	},
	{
		Package: "internal/app/events", Function: "(*EventWatch).Next",
		Old: "return w.watcher.Next(ctx, tick, due)", New: "return w.watcher.Next(ctx, due, tick)",
		Reason: "both end the wait in the same way",
	},
	{
		Package: "internal/app/messages", Function: "(*noticeBatch).load",
		Old:    "if n.Booking.IsZero() && n.Entry.IsZero() {",
		New:    "if n.Booking.IsZero() || n.Entry.IsZero() {",
		Reason: "it reads sessions that no message needs",
	},
	{
		Package: "internal/data/messagedb", Function: "openNotices",
		Old:    "case when n.sending then (",
		New:    "case when (true or (n.sending)) then (",
		Reason: "only a notice that is being sent is asked for the status of its last attempt",
	},
	{
		Package: "internal/data/bookingdb", Function: "firstID",
		Old:    "binary.BigEndian.PutUint64(id[:8], uint64(max(t.UnixMilli(), 0))<<16|0x7000)",
		New:    "binary.BigEndian.PutUint64(id[:9], uint64(max(t.UnixMilli(), 0))<<16|0x7000)",
		Reason: "it writes the first eight bytes only",
	},
	{
		Package: "internal/app/messages", Function: "(*planFacts).load",
		Old: "if len(access.list) > 0 {", New: "if len(access.list) >= 0 {",
		Reason: "the owners that it reads then are asked for by events about access only",
	},
	{
		Package: "internal/app/schedules", Function: "(*Service).bulk",
		Old:    "scheduledb.ListSessions(&batch, tx.Tenant, r.query(session.MaxBulk+1), &rows)",
		New:    "scheduledb.ListSessions(&batch, tx.Tenant, r.query(session.MaxBulk+2), &rows)",
		Reason: "one session more already says that there are too many",
	},
	{
		Package: "internal/app/seats", Function: "UnknownParty",
		Old: "const UnknownParty = 1 << 20", New: "const UnknownParty = 1 << 21",
		Reason: "both are more seats than any session has",
	},
	{
		Package: "internal/data/messagedb", Function: "updateDeliveries",
		Old:    "where d.tenant_id = $1 and d.id = x.id and d.id = any($2)`)",
		New:    "where d.tenant_id = $1 and d.id = x.id and (true or (d.id = any($2)))`)",
		Reason: "the ids are those of x; the term is for the planner",
	},
	{
		Package: "internal/data/waitlistdb", Function: "MovePlaces",
		Old:    "if len(sessions) == 0 {\nreturn\n}",
		Reason: "the statements move no place then, and count the queues as they are",
	},
	{
		Package: "internal/data/messagedb", Function: "PutPhoneTenants",
		Old:    "if len(numbers) == 0 {\nreturn\n}",
		Reason: "the statement adds no row then",
	},
	{
		Package: "internal/data/bookingdb", Function: "MoveBookings",
		Old: "if len(exclusive) > 0 {", New: "if len(exclusive) > 1 {",
		Reason: "one alone overlaps no other that moves",
	},
	{
		Package: "internal/data/bookingdb", Function: "MoveUsage",
		Old:    "case u.Used < 0:",
		New:    "case u.Used < 1:",
		Reason: "subtracting 0 changes nothing",
	},
	{
		Package: "internal/data/bookingdb", Function: "MoveUsage",
		Old:    "case u.Used < 0:",
		New:    "case u.Used <= 0:",
		Reason: "subtracting 0 changes nothing",
	},
	{
		Package: "internal/data/messagedb", Function: "AddSendingHours",
		Old:    "if len(changes) == 0 {\nreturn\n}",
		New:    "",
		Reason: "the statement changes no row then",
	},
	{
		Package: "internal/data/messagedb", Function: "InsertNotices",
		Old:    "if len(all) == 0 {\nreturn\n}",
		New:    "",
		Reason: "the statement adds no row then",
	},
	{
		Package: "internal/data/bookingdb", Function: "usageCounted", Old: "u.Used = 0", New: "u.Used = 1",
		Reason: "any number that is the same in all keys is as good",
	},
	{
		Package: "internal/data/bookingdb", Function: "seatsMoved",
		Old:    "bytes.Compare(a.session.UUID[:], b.session.UUID[:])",
		New:    "bytes.Compare(b.session.UUID[:], a.session.UUID[:])",
		Reason: "any order that is the same for all transactions is as good",
	},
	{
		Package: "internal/data/bookingdb", Function: "(Period).Instants",
		Old: "p.From.AddDays(-1)", New: "p.From.AddDays(-2)",
		Reason: "the days decide, and this reads more",
	},
	{
		Package: "internal/data/bookingdb", Function: "(Period).Instants", Old: "p.To.AddDays(2)", New: "p.To.AddDays(3)",
		Reason: "the days decide, and this reads more",
	},
	{
		Package: "internal/data/bookingdb", Function: "firstID", Old: "max(t.UnixMilli(), 0)", New: "max(t.UnixMilli(), 1)",
		Reason: "nothing was made in 1970",
	},
	{
		Package: "internal/data/bookingdb", Function: "firstID", Old: "<<16|0x7000", New: "<<16|28673",
		Reason: "the span is wider than its days",
	},
	{
		Package: "internal/data/waitlistdb", Function: "removePlaces", Old: "if len(entries) == 0 {\nreturn\n}", New: "",
		Reason: "the statement changes no row then",
	},
	{
		Package: "internal/app/schedules", Function: "(*Service).updateWaitlists",
		Old:    "case freed[s.ID] > 0: // the lower capacity may leave some of the freed seats open",
		New:    "case freed[s.ID] > 1: // the lower capacity may leave some of the freed seats open",
		Reason: "a single freed seat is the one that the lower capacity takes: none is open",
	},
	{
		Package: "internal/app/schedules", Function: "splitSeries",
		Old:    "return nil, series, civil.DateOf(now, zone).AddDays(-1), nil",
		New:    "return nil, series, civil.DateOf(now, zone).AddDays(-2), nil",
		Reason: "sessions that have started do not change",
	},
	{
		Package: "internal/app/schedules", Function: "(*Service).updateWaitlists",
		Old:    "requeued, queues = append(requeued, s.ID), append(queues, from, to)",
		New:    "requeued, queues = append(requeued, s.ID), append(queues, to, from)",
		Reason: "they are counted in any order",
	},
	{
		Package: "internal/app/contacts", Function: "linkPurpose",
		Old: `const linkPurpose = "confirm"`, New: `const linkPurpose = ""`,
		Reason: "any purpose that no other link has is as good",
	},
	{
		Package: "internal/app/housekeeping", Function: "(*Service).findWork",
		Old:    "const first = 1 // shows that there is something to do",
		New:    "const first = 2 // shows that there is something to do",
		Reason: "it only matters whether there is any",
	},
	{
		Package: "internal/app/waitlists", Function: "(*Service).namesIn",
		Old:    "members = append(members, DecisionMembers(d.Decision)...)",
		New:    "members = append(DecisionMembers(d.Decision), members...)",
		Reason: "names are looked up in any order",
	},
	{
		Package: "internal/app/waitlists", Function: "(*Service).WaitlistAnalytics",
		Old: "}, &parts, &offers)", New: "}, &offers, &parts)",
		Reason: "both are summed",
	},
	{
		Package: "internal/app/waitlists", Function: "(*Service).WaitlistAnalytics",
		Old: "parts = append(parts, offers...)", New: "parts = append(offers, parts...)",
		Reason: "both are summed",
	},
	{
		Package: "internal/app/bookings", Function: "(*reschedule).Run",
		Old:    "if err := r.service.waitlists.SoloIfAwaited(tx, r.slot, r.to); err != nil {",
		New:    "if err := r.service.waitlists.SoloIfAwaited(tx, r.to, r.slot); err != nil {",
		Reason: "both locks are asked for, in any order",
	},
	{
		Package: "internal/app/engine", Function: "Alone",
		Old:    "locks.Solo = true",
		New:    "locks.Solo = false",
		Reason: "it reads while it runs, and so leaves a shared transaction and runs alone",
	},
	{
		Package: "internal/data/messagedb", Function: "(*People).All",
		Old:    "return slices.Concat(p.OfBookings, p.OfSessions,",
		New:    "return slices.Concat(p.OfSessions, p.OfBookings,",
		Reason: "the members are read in any order",
	},
	{
		Package: "internal/app/messages", Function: "(*Service).planNotices",
		Old: "if len(events) == 0 {\nreturn nil\n}", New: "",
		Reason: "without events nothing is planned",
	},
	{
		Package: "internal/rpc", Function: "(*Health).ready",
		Old: "time.Since(h.checked) > checkInterval", New: "time.Since(h.checked) >= checkInterval",
		Reason: "it differs in one nanosecond",
	},
	{
		Package: "internal/data/coredb", Function: "RuleJoins",
		Old: "left join policies pt on pt.tenant_id = s.tenant_id and pt.level = 'TENANT' and pt.scope_id = s.tenant_id",
		New: "left join policies pt on pt.tenant_id = s.tenant_id and (true or (pt.level = 'TENANT')) " +
			"and pt.scope_id = s.tenant_id",
		Reason: "no other policy has the tenant's id as its scope",
	},
	{
		Package: "internal/app/engine", Function: "enqueue", Old: `"key"`, New: `""`,
		Reason: "no other kind of key is without a name",
	},
	{
		Package: "internal/data/outbox", Function: "(*tail).append",
		Old:    "for len(segments) > 0 && (t.size > limit || now.Sub(segments[0].readAt) > tailAge) {",
		New:    "for len(segments) > 0 && (t.size > limit || now.Sub(segments[0].readAt) >= tailAge) {",
		Reason: "a tail is a cache: what it dropped is read from the log",
	},
	{
		Package: "internal/data/outbox", Function: "(*feed).run", Old: "held = 0", New: "held = 1",
		Reason: "the pause after 1 ns is the shortest one, as after none",
	},
	{
		Package: "internal/data/outbox", Function: "(*Relay).consume",
		Old: "if left := backoffs.remaining(id); left > 0 {", New: "if left := backoffs.remaining(id); left >= 0 {",
		Reason: "at exactly zero it is called again at once",
	},
	{
		Package: "internal/pg", Function: "(*Tx).LockOnRetry",
		Old:    "func (tx *Tx) LockOnRetry(keys ...int64) { tx.retryLocks = append(tx.retryLocks, keys...) }",
		New:    "func (tx *Tx) LockOnRetry(keys ...int64) { tx.retryLocks = append(keys, tx.retryLocks...) }",
		Reason: "locks are sorted before they are taken",
	},
	{
		Package: "internal/pg", Function: "(digestStore).Insert", Old: "return err", New: "return nil",
		Reason: "a transaction with a failed statement does not commit, which goose reports",
	},
	{
		Package: "internal/pg", Function: "(*DB).Listen",
		Old:    "pause(ctx, failures, listenRetryBase, listenRetryMax)",
		New:    "pause(ctx, failures, listenRetryMax, listenRetryBase)",
		Reason: "the pause is a random time, here up to the shortest bound",
	},
	{
		Package: "internal/app/engine", Function: "(*batcher).release",
		Old:    "t.locks.Together = append(t.locks.Together, t.found...)",
		New:    "t.locks.Together = append(t.found, t.locks.Together...)",
		Reason: "locks are a set",
	},
	{
		Package: "internal/pg", Function: "(*run).attempt",
		Old:    "defer func() { WithLocks(slices.Concat(r.locks, tx.retryLocks)...)(r) }()",
		New:    "defer func() { WithLocks(slices.Concat(tx.retryLocks, r.locks)...)(r) }()",
		Reason: "locks are sorted before they are taken",
	},
	{
		Package: "internal/pg", Function: "(digestStore).CreateVersionTable", Old: "return err", New: "return nil",
		Reason: "a transaction with a failed statement does not commit, which goose reports",
	},
	{
		Package: "internal/data/outbox", Function: "(*tail).after",
		Old:    "return cmp.Or(s.end.Compare(at), -1) // a segment that ends at the position has been read",
		New:    "return cmp.Or(s.end.Compare(at), -2) // a segment that ends at the position has been read",
		Reason: "a search looks at the sign only",
	},
	{
		Package: "internal/data/messagedb", Function: "updateNotices",
		Old:    "n.id = x.id and n.id = any($2) and (",
		New:    "n.id = x.id and (true or (n.id = any($2))) and (",
		Reason: "the ids are those of x; the term is for the planner",
	},
	{
		Package: "internal/data/coredb", Function: "releasedKeys",
		Old:    "where k.tenant_id = $1 and k.key = any($4)",
		New:    "where k.tenant_id = $1 and (true or (k.key = any($4)))",
		Reason: "the keys are those of x; the term is for the planner",
	},
	{
		Package: "internal/data/accountdb", Function: "FindLocaleByPhone",
		Old:    "phone = $2 and phone <> '' and",
		New:    "phone = $2 and (true or (phone <> '')) and",
		Reason: "no message comes from an empty number; the term is for the index",
	},
	{
		Package: "internal/data/coredb", Function: "RuleJoins",
		Old:    "pv.level = 'SERVICE' and pv.scope_id = s.service_id",
		New:    "(true or (pv.level = 'SERVICE')) and pv.scope_id = s.service_id",
		Reason: "no other policy has the service's id as its scope",
	},
	{
		Package: "internal/data/scheduledb", Function: "listSeriesSessions",
		Old:    "s.occurs_at >= $3 and",
		New:    "(true or (s.occurs_at >= $3)) and",
		Reason: "it bounds what the index is read for; the local date decides",
	},
	{
		Package: "internal/data/scheduledb", Function: "listSeriesSessions",
		Old:    "s.occurs_at >= $3 and",
		New:    "s.occurs_at > $3 and",
		Reason: "it bounds what the index is read for; the local date decides",
	},
	{
		Package: "internal/data/scheduledb", Function: "ListSeriesSessions",
		Old:    "from.AddDays(-2).On(time.UTC)",
		New:    "from.AddDays(-3).On(time.UTC)",
		Reason: "it bounds what the index is read for; the local date decides",
	},
	{
		Package: "internal/data/scheduledb", Function: "listBusySpans",
		Old:    "s.starts_at >= $2 and s.starts_at < $4",
		New:    "(true or (s.starts_at >= $2)) and s.starts_at < $4",
		Reason: "it bounds what the index is read for; the end of a session decides",
	},
	{
		Package: "internal/data/scheduledb", Function: "listBusySpans",
		Old:    "s.starts_at >= $2 and s.starts_at < $4",
		New:    "s.starts_at > $2 and s.starts_at < $4",
		Reason: "it bounds what the index is read for; the end of a session decides",
	},
	{
		Package: "internal/data/messagedb", Function: "PutStops",
		Old:    "if len(all) == 0 {\nreturn\n}",
		Reason: "the statement adds no row then",
	},
	{
		Package: "internal/data/messagedb", Function: "UpdateNotices",
		Old:    "if len(states) == 0 {\nreturn\n}",
		Reason: "the statement changes no row then",
	},
	{
		Package: "internal/data/messagedb", Function: "ReturnSending",
		Old:    "if len(unsent) == 0 {\nreturn\n}",
		Reason: "the statement changes no row then",
	},
	{
		Package: "internal/data/messagedb", Function: "InsertDeliveries",
		Old:    "if len(all) == 0 {\nreturn\n}",
		Reason: "the statement adds no row then",
	},
	{
		Package: "internal/app/engine", Function: "replayed",
		Old:    "if !errors.Is(err, errKeyUsed) && !coredb.KeyUsed(err) {",
		New:    "if !errors.Is(errKeyUsed, err) && !coredb.KeyUsed(err) {",
		Reason: "a batch returns errKeyUsed as it is",
	},
})

// emptyLists are the guards of empty lists for which nothing would be read or written either way.
func emptyLists() (all []Equivalent) {
	for _, row := range []struct {
		folder, function, reason string
		lists                    []string
	}{
		{
			"internal/app/messages", "(*noticeBatch).load",
			"without limits nothing is counted against them, so it reads what is not used",
			[]string{"limits"},
		},
		{"internal/data/bookingdb", "MoveBookings", "the statement changes no row then", []string{"exclusive"}},
		{
			"internal/data/messagedb", "ListSubjects", "it finds nothing by no ids",
			[]string{"payers", "entries", "bookings", "sessions"},
		},
		{
			"internal/data/messagedb", "ListPeople", "it finds nothing by no ids",
			[]string{"ids.Payers", "ids.Sessions", "ids.Bookings", "ids.Entries"},
		},
		{"internal/data/scheduledb", "UpdateSessions", "the statement changes no row then", []string{"all"}},
		{"internal/data/scheduledb", "InsertSessions", "the statement adds no row then", []string{"all"}},
		{"internal/data/bookingdb", "MoveUsage", "the statement changes no row then", []string{"less", "more"}},
		{"internal/data/accountdb", "DeleteDevices", "the statement deletes no row then", []string{"ids"}},
	} {
		for _, list := range row.lists {
			all = append(all, Equivalent{
				Package: row.folder, Function: row.function, Reason: row.reason,
				Old: "if len(" + list + ") > 0 {", New: "if len(" + list + ") >= 0 {",
			})
		}
	}
	return all
}

// anyOrder are lists whose order means nothing.
func anyOrder() (all []Equivalent) {
	for _, row := range []struct{ folder, function, list string }{
		{"internal/app/accounts", "(*Service).ImportMembers", `"members_email", "members_subject"`},
		{"internal/app/accounts", "editOfAdmin", `"email", "phone", "subject"`},
		{"internal/app/accounts", "roleRace", `"member_roles_role", "service_account_roles_role"`},
		{"internal/app/schedules", "expand", "year, s.Date.AddDays(seriesAhead), s.MaterializedUntil"},
		{"internal/app/schedules", "clashRace", `"sessions_resource_busy", "sessions_staff_busy"`},
		{"internal/app/seats", "ConstraintError", `"bookings_active", "waitlist_places_active"`},
		{"internal/app/seats", "ConstraintError", `"sessions_capacity", "sessions_waitlist"`},
		{"internal/app/seats", "PromotionRace", `"bookings_active", "waitlist_offers_live"`},
		{"internal/pg", "Migrate", "goose.WithStore(store), goose.WithSessionLocker(locker)"},
	} {
		parts := strings.Split(row.list, ", ")
		for i := range len(parts) - 1 {
			swapped := slices.Clone(parts)
			swapped[i], swapped[i+1] = parts[i+1], parts[i]
			all = append(all, Equivalent{
				Package: row.folder, Function: row.function, Old: row.list, New: strings.Join(swapped, ", "),
				Reason: "the order of the list means nothing",
			})
		}
	}
	return all
}

// freeing are statements that free what otherwise is freed later.
func freeing() (all []Equivalent) {
	for _, row := range []struct{ folder, function, statement, reason string }{
		{"internal/rpc/admission", "(*Chain).gate", "defer cancel()", "the request ends soon, and this with it"},
		{"internal/rpc/admission", "(*Chain).WrapUnary", "defer cancel()", "the request ends soon, and this with it"},
		{"internal/rpc", "(*Health).ready", "defer cancel()", "it ends by its timeout, and nothing waits for that"},
		{"internal/app/engine", "(*Engine).runOnce", "defer cancel()", "it ends by its timeout, and nothing waits for that"},
		{"internal/app/engine", "(*queue).nextBatch", "clear(q.tasks[len(rest):])", "nothing reads there"},
		{"internal/pg", "(*run).commit", "defer cancel()", "it ends by its timeout, and nothing waits for that"},
		{"internal/pg", "(*session).rollBack", "defer cancel()", "it ends by its timeout, and nothing waits for that"},
		{"internal/pg", "(*frames[T]).put", "used.row = *new(T)", "a row is read or copied into it before it is used"},
		{"internal/pg", "(*frames[T]).put", "f.pool.Put(used)", "a pool only saves allocations"},
		{"internal/pg", "ReadAs", "defer frames.put(f)", "a pool only saves allocations"},
		{"internal/pg", "(*Table[T]).arguments", "defer t.frames.put(f)", "a pool only saves allocations"},
	} {
		all = append(all, Equivalent{
			Package: row.folder, Function: row.function, Old: row.statement, Reason: row.reason,
		})
	}
	return all
}

// tuning are constants that set a pace or a size which nothing promises. One step of it cannot be told from chance.
func tuning() (all []Equivalent) {
	for _, row := range []struct{ folder, function, old, new string }{
		{"internal/app/accounts", "insertLimit", "5000", "5001"},
		{"internal/app/accounts", "sealedAtOnce", "500", "501"},
		{"internal/app/events", "(*EventWatch).Wait", "max(w.seats.wait(now), 1)", "max(w.seats.wait(now), 2)"},
		{"internal/rpc/admission", "HoldBack", "500 * time.Millisecond", "501 * time.Millisecond"},
		{"internal/rpc/admission", "defaultTimeLimit", "10 * time.Second", "11 * time.Second"},
		{"internal/rpc", "minCompressedEvents", "16 << 10", "17 << 10"},
		{"internal/rpc", "minCompressedEvents", "16 << 10", "16 << 11"},
		{"internal/rpc", "checkTimeout", "2 * time.Second", "3 * time.Second"},
		{"internal/rpc", "checkInterval", "time.Second", "(2*time.Second)"},
		{"internal/rpc", "watchInterval", "5 * time.Second", "6 * time.Second"},
		{"internal/rpc/admission", "maxFiles", "8", "9"},
		{"internal/rpc/admission", "maxWaitingFiles", "4", "5"},
		{"internal/rpc/admission", "few", "20", "21"},
		{"internal/rpc/admission", "short", "200", "201"},
		{"internal/rpc/admission", "long", "2000", "2001"},
		{"internal/rpc/admission", "unruled", "300", "301"},
		{"internal/app/schedules", "initialPage", "64", "65"},
		{"internal/rpc/admission", "undecodableFault", "const maxLength = 200", "const maxLength = 201"},
		{"internal/rpc", "NewServer", "ReadHeaderTimeout: 5 *", "ReadHeaderTimeout: 6 *"},
		{"internal/rpc", "NewServer", "30 * time.Second", "31 * time.Second"},
		{"internal/rpc", "NewServer", "2 * time.Minute", "3 * time.Minute"},
		{"internal/rpc", "NewServer", "32 << 10", "33 << 10"},
		{"internal/rpc", "NewServer", "15 * time.Second", "16 * time.Second"},
		{"internal/app/messages", "maxFeedBookings", "1000", "1001"},
		{"internal/app/messages", "lookupTime", "5 * time.Second", "6 * time.Second"},
		{"internal/pg", "dialer", "Idle: 10 * time.Second", "Idle: 11 * time.Second"},
		{"internal/pg", "dialer", "Interval: 5 * time.Second", "Interval: 6 * time.Second"},
		{"internal/pg", "listenRetryMax", "5 * time.Second", "6 * time.Second"},
		{"internal/pg", "listenRetryBase", "100 * time.Millisecond", "101 * time.Millisecond"},
		{"internal/pg", "(*DB).Listen", "for failures := 0; ; {", "for failures := 1; ; {"},
		{"internal/pg", "rollbackTimeout", "5 * time.Second", "6 * time.Second"},
		{"internal/pg", "commitGrace", "5 * time.Second", "6 * time.Second"},
		{"internal/pg", "firstPause", "2 * time.Millisecond", "3 * time.Millisecond"},
		{"internal/pg", "firstPause", "250 * time.Millisecond", "251 * time.Millisecond"},
		{"internal/pg", "pause", "16", "17"},
		{"internal/pg", "(*DB).openPool", "100 * time.Millisecond", "101 * time.Millisecond"},
		{"internal/pg", "(*DB).openPool", "3 * time.Second", "4 * time.Second"},
		{"internal/pg", "Migrate", "WithLockTimeout(1,", "WithLockTimeout(2,"},
		{"internal/pg", "Migrate", "100_000", "100001"},
		{"internal/app/waitlists", "(*Service).ExpireHolds", "const page = 50", "const page = 51"},
		{"internal/app/waitlists", "(*Service).ExpireDueOffers", "const page = 50", "const page = 51"},
		{"internal/app/housekeeping", "(*Service).sweepKeys", "10*engine.SweepChunk", "11*engine.SweepChunk"},
		{"internal/app/engine", "maxLookahead", "8 * maxBatch", "9 * maxBatch"},
		{"internal/app/engine", "maxCounts", "10_000", "10001"},
		{"internal/app/engine", "maxSplits", "3", "4"},
		{"internal/data/outbox", "consumeDelay", "20 * time.Millisecond", "21 * time.Millisecond"},
		{"internal/data/outbox", "scanInterval", "time.Minute", "(2*time.Minute)"},
		{"internal/data/outbox", "consumeConcurrency", "4", "5"},
		{"internal/data/outbox", "(*Relay).consume", "maxHeldBackoff / 4", "maxHeldBackoff / 5"},
		{"internal/data/outbox", "(*Relay).consume", "return 0", "return 1"},
		{"internal/data/outbox", "tailAge", "30 * time.Second", "31 * time.Second"},
		{"internal/data/outbox", "tailAge", "8192", "8193"},
		{"internal/data/outbox", "readLimit", "500", "501"},
		{"internal/data/outbox", "readBackoff", "time.Second", "(2*time.Second)"},
		{"internal/data/outbox", "(*feed).run", "timer.Reset(0)", "timer.Reset(1)"},
		{"internal/data/outbox", "(*Watcher).Next", "200", "201"},
		{"internal/data/outbox", "notifyInterval", "50 * time.Millisecond", "51 * time.Millisecond"},
		{"internal/data/outbox", "notifyTimeout", "2 * time.Second", "3 * time.Second"},
		{"internal/data/outbox", "maxNotifyTenants", "200", "201"},
	} {
		all = append(all, Equivalent{
			Package: row.folder, Function: row.function, Old: row.old, New: row.new, Reason: "it tunes speed",
		})
	}
	return all
}

// readLess are terms of statements that let them read or write less, and find the same without.
func readLess() (all []Equivalent) {
	for _, row := range []struct{ folder, function, old, new, reason string }{
		{
			"bookingdb", "inPeriod", "s.starts_at >= $2 and",
			"s.starts_at > $2 and",
			"the local date decides, and the span is wider than its days",
		},
		{"bookingdb", "inPeriod", "s.starts_at < $3", "(true or (s.starts_at < $3))", "the local date decides"},
		{
			"bookingdb", "inPeriod", "s.starts_at < $3",
			"s.starts_at <= $3",
			"the local date decides, and the span is wider than its days",
		},
		{
			"bookingdb", "countMade", "b.id >= $2",
			"b.id > $2",
			"the date decides, and the span is wider than its days",
		},
		{"bookingdb", "countMade", "b.id >= $2", "(true or (b.id >= $2))", "the date decides"},
		{
			"bookingdb", "countMade", "b.id < $3",
			"b.id <= $3",
			"the date decides, and the span is wider than its days",
		},
		{
			"bookingdb", "listAbsences", "s.starts_at >= $2 and",
			"(true or (s.starts_at >= $2)) and",
			"the end of a session decides",
		},
		{
			"bookingdb", "listAbsences", "s.starts_at < $4",
			"(true or (s.starts_at < $4))",
			"the end of a session decides",
		},
		{"bookingdb", "listAbsences", "s.starts_at < $4", "s.starts_at <= $4", "the end of a session decides"},
		{
			"bookingdb", "listAbsences",
			"where ($5 or exists (select from policies p where p.tenant_id = $1 and p.auto_no_show))",
			"where (true or (($5 or exists (select from policies p where p.tenant_id = $1 and p.auto_no_show))))",
			"the policies of each session decide",
		},
		{
			"bookingdb", "listAbsences", "and p.auto_no_show))",
			"and (true or (p.auto_no_show))))",
			"the policies of each session decide",
		},
		{
			"bookingdb", "ListDueSessions", "order by hold_expires_at) due",
			"order by hold_expires_at desc) due",
			"the outer order does not depend on it",
		},
		{
			"bookingdb", "seatsMoved", "limit cardinality($2)",
			"limit 1000000000 + (cardinality($2))",
			"there are no more rows",
		},
		{
			"bookingdb", "updateBookings", "limit cardinality($2)",
			"limit 1000000000 + (cardinality($2))",
			"there are no more rows",
		},
		{
			"bookingdb", "updateSubscriptions", "limit cardinality($2)",
			"limit 1000000000 + (cardinality($2))",
			"there are no more rows",
		},
		{
			"bookingdb", "subtractUsage", "u.subscription_id = any($2)",
			"(true or (u.subscription_id = any($2)))",
			"the changes are of these subscriptions",
		},
		{"bookingdb", "CountUsage", "and not b.counted", "and (true or (not b.counted))", "it sets what is set"},
		{
			"waitlistdb", "listEntriesNewest", "and $8::bigint is not null",
			"and (true or ($8::bigint is not null))",
			"the parameter is a number",
		},
		{"waitlistdb", "SetOrder", "q.last_key < p.key", "q.last_key <= p.key", "it sets the same key"},
		{
			"waitlistdb", "movePlaces", "p.entry_id = m.entry_id",
			"(true or (p.entry_id = m.entry_id))",
			"all places of a session move to one queue",
		},
		{
			"waitlistdb", "removePlaces", "p.entry_id = any($2)",
			"(true or (p.entry_id = any($2)))",
			"only places of these entries are gone",
		},
		{
			"waitlistdb", "ListUnfilled", "s.waiting > 0",
			"(true or (s.waiting > 0))",
			"a session without entries has no places",
		},
		{
			"waitlistdb", "ListUnfilled", "s.waiting > 0",
			"s.waiting >= 0",
			"a session without entries has no places",
		},
		{
			"waitlistdb", "ListUnfilled", "and (s.capacity is null or s.seats_taken < s.capacity)",
			"and (true or ((s.capacity is null or s.seats_taken < s.capacity)))",
			"the seats for each entry decide",
		},
		{
			"waitlistdb", "ListUnfilled", "s.seats_taken < s.capacity",
			"s.seats_taken <= s.capacity",
			"the seats for each entry decide",
		},
	} {
		all = append(all, Equivalent{
			Package: "internal/data/" + row.folder, Function: row.function, Old: row.old, New: row.new, Reason: row.reason,
		})
	}
	return all
}
