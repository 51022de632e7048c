package mutate

const (
	conversions = "^TestConversions_CarryEveryField$"
	tables      = "^TestTables_AreIsolatedAndHistoryIsAppendOnly$"
)

// fixed lists the mutants that tests must kill. Each was a bug that no test noticed. Who changes one of the functions
// changes the entry, or runs `make mutate-check`.
var fixed = []Fixed{
	{
		Harm:    "any member books in another's name",
		Package: "internal/app/bookings", Function: "(*BookRequest).complete",
		Old:   "caller.SelfOnly && (r.Guest || r.Member != caller.Member)",
		New:   "false && caller.SelfOnly",
		Tests: []Test{{"internal/app/bookings", "^TestBookRequest_ForOthersNeedsPermission$"}},
	},
	{
		Harm:    "who may hold for others may book for others",
		Package: "internal/rpc/bookingapi", Function: "(*Bookings).Book",
		Old: "booking.CreateForOthers", New: "booking.HoldForOthers",
		Tests: []Test{{"internal/rpc", "^TestPermissions_BeyondThatOfTheRPC$"}},
	},
	{
		Harm:    "the permission to act for others is not asked for",
		Package: "internal/rpc/request", Function: "CallerWith",
		Old: "= !decision.Allowed", New: "= !decision.Allowed && false",
		Tests: []Test{{"internal/rpc", "^TestPermissions_BeyondThatOfTheRPC$"}},
	},
	{
		Harm:   "row security of a table is disabled",
		Schema: "alter table notices disable row level security",
		Tests:  []Test{{"migrations", tables}},
	},
	{
		Harm:   "row security of a table is not forced",
		Schema: "alter table bookings no force row level security",
		Tests:  []Test{{"migrations", tables}},
	},
	{
		Harm:   "the ledger of credits can be changed",
		Schema: "grant update, delete on credit_entries to berth_app",
		Tests:  []Test{{"migrations", tables}},
	},
	{
		Harm:   "events can be changed",
		Schema: "grant update on events to berth_app",
		Tests:  []Test{{"migrations", tables}},
	},
	{
		Harm:   "the audit log can be deleted",
		Schema: "grant delete on audit_entries to berth_app",
		Tests:  []Test{{"migrations", tables}},
	},
	{
		Harm:    "choices of channels are never saved",
		Package: "internal/app/messages", Function: "(*Service).UpdateNotificationPreferences",
		Old:   "messagedb.PutPreferences(tx.Tx, tx.Tenant, tx.Caller.Member, edit.Chosen, tx.Now)",
		Tests: []Test{{"internal/app/messages", "^TestGuardrails_LogTheReason$/^nothing_is_wanted$"}},
	},
	{
		Harm:    "a caller gets the answer to another's request",
		Package: "internal/data/coredb", Function: "findAnswer",
		Old: "principal = $2", New: "(true or principal = $2)",
		Tests: []Test{{"internal/app/idempotency", "^TestIdempotencyKey_IsOfOneCaller$"}},
	},
	{
		Harm:    "callers with one key share it within a transaction",
		Package: "internal/data/coredb", Function: "(Claim).Name",
		Old: "c.Principal", New: `""`,
		Tests: []Test{{"internal/app/idempotency", "^TestIdempotencyKey_IsOfOneCaller$"}},
	},
	{
		Harm:    "the link of an offer acts with the freedom of staff",
		Package: "internal/app/waitlists", Function: "(*Service).answerAsMember",
		Old: "SelfOnly: true", New: "SelfOnly: false",
		Tests: []Test{{"internal/app/waitlists", "^TestAnswerAsMember_AnswersOwnOffersOnly$"}},
	},
	{
		Harm:    "a session of a booking ends when it starts",
		Package: "internal/rpc/convert", Function: "SessionSummaryMessage",
		Old: "Timestamp(s.EndsAt)", New: "Timestamp(s.StartsAt)",
		Tests: []Test{{"internal/rpc/convert", conversions}},
	},
	{
		Harm:    "a booking can be cancelled until the start",
		Package: "internal/rpc/convert", Function: "BookingMessage",
		Old: "b.CancelDeadline()", New: "b.StartsAt",
		Tests: []Test{{"internal/rpc/convert", conversions}},
	},
	{
		Harm:    "amounts lose what is below a unit",
		Package: "internal/rpc/convert", Function: "MoneyMessage",
		Old: ", Nanos: m.Nanos", New: "",
		Tests: []Test{{"internal/rpc/convert", conversions}},
	},
	{
		Harm:    "amounts are read without what is below a unit",
		Package: "internal/rpc/convert", Function: "MoneyValue",
		Old: ", Nanos: m.GetNanos()", New: "",
		Tests: []Test{{"internal/rpc/convert", "^TestMoney_RoundTrips$"}},
	},
	{
		Harm:    "the balance of a line of the ledger is its amount",
		Package: "internal/rpc/accountapi", Function: "lineMessage",
		Old: "int32(l.Balance)", New: "int32(l.Amount)",
		Tests: []Test{{"internal/rpc/accountapi", conversions}},
	},
	{
		Harm:    "a session ends when it starts",
		Package: "internal/rpc/scheduleapi", Function: "sessionMessage",
		Old: "Timestamp(s.EndsAt)", New: "Timestamp(s.StartsAt)",
		Tests: []Test{{"internal/rpc/scheduleapi", conversions}},
	},
	{
		Harm:    "a promoted member is told nothing",
		Package: "internal/rules/notify", Function: "plans",
		Old:   "p.addNow(who, Promoted, who.StartsAt)",
		Tests: []Test{{"internal/rules/notify", "^TestPlan_ReturnsTheNoticesOfEachEvent$"}},
	},
	{
		Harm:    "expired subscriptions get credits",
		Package: "internal/rules/credit", Function: "Advance",
		Old: "s.Status == Expired ||", New: "",
		Tests: []Test{{"internal/rules/credit", "^TestAdvance_LeavesEndedSubscriptionsUnchanged$"}},
	},
	{
		Harm:    "members without a plan are told that they book without limit",
		Package: "internal/rpc/accountapi", Function: "(*Accounts).GetBalance",
		Old: "Unlimited: unlimited", New: "Unlimited: !unlimited",
		Tests: []Test{{"internal/rpc", "^TestGetBalance_SaysWhoBooksWithoutCredits$"}},
	},
	{
		Harm:    "calendar entries have no end",
		Package: "internal/rules/content", Function: "calendar",
		Old:   `c.line("DTEND", utc(e.End))`,
		Tests: []Test{{"internal/rules/content", "^TestInvitation_"}},
	},
	{
		Harm:    "an invalid edit of a role succeeds",
		Package: "internal/rules/grant", Function: "EditRole",
		Old:   "after.normalizeFrom(before) if err != nil { return before, err",
		New:   "after.normalizeFrom(before); if err != nil { return before, nil",
		Tests: []Test{{"internal/rules/grant", "^TestRoleNormalize_ReturnsStoredFormOrNamesTheInvalidField$"}},
	},
	{
		Harm:    "one key that cannot be used locks everyone out",
		Package: "internal/token", Function: "parseKeys",
		Old:   "k.Algorithm != alg) { continue",
		New:   `k.Algorithm != alg) { return nil, errors.New("unusable")`,
		Tests: []Test{{"internal/token", "^TestParseKeys_SelectsUsableKeys$"}},
	},
	{
		Harm:    "one key that cannot be read locks everyone out",
		Package: "internal/token", Function: "parseKeys",
		Old:   "!k.verifies() { continue",
		New:   `!k.verifies() { return nil, errors.New("unusable")`,
		Tests: []Test{{"internal/token", "^TestParseKeys_SelectsUsableKeys$"}},
	},
	{
		Harm:    "a role that replaces one of equal permissions is not seen",
		Package: "internal/access", Function: "(*rules).hasCustom",
		Old: "a.Name == b.Name &&", New: "",
		Tests: []Test{{"internal/access", "^TestInvalidate_FollowsRenamedRoles$"}},
	},
	{
		Harm:    "a credit is refunded twice, and only the database refuses",
		Package: "internal/rules/booking", Function: "RefundCredits",
		Old: "b.Credits == 0 ||", New: "",
		Tests: []Test{{"internal/app/bookings", "^TestRefundCredit_ReturnsACreditOnce$"}},
	},
	{
		Harm:    "a booking that was refunded keeps its credits, and only the database refuses",
		Package: "internal/rules/booking", Function: "RefundCredits",
		Old: "b.Credits = 0", New: "",
		Tests: []Test{{"internal/app/bookings", "^TestRefundCredit_ReturnsACreditOnce$"}},
	},
	{
		Harm:    "a balance becomes negative by booking, and only the database refuses",
		Package: "internal/rules/credit", Function: "(*Subscription).Charge",
		Old: "s.Balance < seats", New: "s.Balance+1 < seats",
		Tests: []Test{{"internal/rules/credit", ""}},
	},
	{
		Harm:    "a balance becomes negative by a correction, and only the database refuses",
		Package: "internal/rules/credit", Function: "(*Subscription).Adjust",
		Old: "s.Balance+amount < 0", New: "s.Balance+amount < -1",
		Tests: []Test{{"internal/rules/credit", ""}},
	},
	{
		Harm:    "pages of items skip",
		Package: "internal/data/catalogdb", Function: "listItems",
		Old: "(lower(i.name), i.id) > (lower($4), $5)", New: "lower(i.name) > lower($4)",
		Tests: []Test{{"internal/rpc", "^TestCatalog_Pages$"}},
	},
	{
		Harm:    "pages of items are cut in another order than they are read",
		Package: "internal/data/catalogdb", Function: "listItems",
		Old: "order by lower(i.name), i.id limit", New: "order by i.id limit",
		Tests: []Test{{"internal/rpc", "^TestCatalog_Pages$"}},
	},
	{
		Harm:    "an entry that is moved to the end stays",
		Package: "internal/rules/waitlist", Function: "MoveLast",
		Old:   "moved.Keys[entry] = NextKey(now, last.Key)",
		Tests: []Test{{"internal/rules/waitlist", "^TestMove_PutsEntryBeforeAnotherOrLast$"}},
	},
	{
		Harm:    "an entry that is moved to the end keeps its score",
		Package: "internal/rules/waitlist", Function: "MoveLast",
		Old:   "moved.Score = &last.score",
		Tests: []Test{{"internal/rules/waitlist", "^TestMove_PutsEntryBeforeAnotherOrLast$"}},
	},
}
