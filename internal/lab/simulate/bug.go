package simulate

// bug is a rule that a simulation breaks on purpose. Tests use bugs as negative controls: each has to be detected.
type bug int

const (
	noBug              bug = iota
	keepSeats              // a cancellation frees no seats
	refundLate             // a late cancellation refunds the credit
	skipFlagged            // entries that staff flagged are skipped
	noFillOnCancel         // a cancellation does not fill the freed seats
	unreservedOffers       // offers reserve no seats
	neverExpireHolds       // holds do not expire
	keepQuota              // a cancelled booking counts against quotas
	quotaInUTC             // quotas count days in UTC
	offerInQuietHours      // the offer window runs during quiet hours
	offerUntilEnd          // offers are live until the session ends
	keepEntryOffered       // an entry whose offer ended stays OFFERED
	dropLedgerLine         // a balance changes without a ledger line
	keepUnclaimedSeats     // a round keeps seats that can no longer be claimed
	fillOneTooMany         // a fill hands out a seat more than is open
	neverRetryTooSlow      // an entry that was too slow gets no further offer
	retryUnsendable        // an entry whose offer could not be sent gets another
	ignoreQuotas           // the limits of a plan are ignored
	skipRefill             // seats that an offer leaves are not filled
	fixedRoundSize         // a round does not take in seats that were open
	neverReopenRound       // a round that keeps seats again stays closed
	dropSkipReasons        // entries do not store why they were skipped
	dropStaffNote          // staff get no note about seats that are left
	keepOtherEntries       // a booking leaves the other entries of its member
	promoteBack            // who cancels gets the seat through another entry
	neverRecheck           // entries that were passed over are not checked again
	neverFillOpening       // who waited for booking to open gets nothing
	giveAllAtOpening       // they get all open seats
	bookBeforeOpening      // members book before them
	neverEndWaits          // entries that can get no seat wait on
	noFillOnRules          // an edit of the rules does not fill open seats

	ignoreQuietHours    // messages are sent in quiet hours
	quietInTenantZone   // quiet hours use the tenant's zone
	ignoreTenantQuiet   // only members with quiet hours of their own have any
	offersIgnoreQuiet   // every offer may be sent at night
	mailAtOnce          // a mail is sent in quiet hours because another channel waits
	ignoreStop          // a STOP reply has no effect
	sendDespiteStop     // stops are not checked
	keepDeadAddress     // unregistered addresses and devices are used again
	ignoreFrequencyCap  // messages are not counted
	sendStale           // messages are sent although the booking was cancelled
	sendMoved           // messages are sent although the session has moved
	sendExpiredOffers   // offers are sent after they have expired
	windowFromCreation  // the offer window starts when the offer is created, not when it is sent
	planTwice           // an event that is read twice is planned twice
	remindByCalendar    // reminders are sent a calendar day before, not 24 hours
	noReminderAfterMove // a rescheduled booking gets no new reminders
	hideRepeats         // the log does not say that a message may be sent twice
	hideDrops           // the log does not say why a message was not sent
	loseAttempt         // a node that crashes loses its messages
	neverRetry          // nothing is retried
	noChannelFallback   // no other channel is tried after one fails
	assumeSent          // no response counts as sent
	lastReportWins      // the last report wins, whatever came before
	ignoreReports       // an undelivered message is not sent over another channel
	ignoreBreaker       // an unresponsive provider is called all the same
	bugCount            // the number of bugs, plus one
)
