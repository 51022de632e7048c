type Facts = Record<string, string | undefined>;

/** Why a call was refused, by the name of the reason in the contract. */
export const en = {
  reasons: {
    INTERNAL: () => "Something went wrong on our side. Please try again.",
    INVALID_FIELD: (f: Facts) => `Please check your input${f.field ? `: ${f.field}` : ""}.`,
    UNAUTHENTICATED: () => "Please sign in again.",
    TENANT_FORBIDDEN: () => "Your account does not belong to this organization.",
    TENANT_REQUIRED: () => "Choose an organization first.",
    NOT_A_MEMBER: () => "Your account does not belong to a member here.",
    MEMBER_INACTIVE: () => "Your membership was deactivated. Please contact the front desk.",
    INVITATION_REQUIRED: () =>
      "Owners, admins and whoever has got more permissions since need an invitation.",
    INVITATION_NOT_FOUND: () => "There is no such invitation any more.",
    INVITATION_ENDED: () => "The invitation was accepted or revoked.",
    ADDRESS_IN_DOUBT: () =>
      "The old email address was asked first. You can invite the new one when it agrees, or after seven days without an answer.",
    STEP_UP_REQUIRED: () => "Sign in again to do this.",
    OWNERSHIP_TRANSFER_NOT_FOUND: () => "This transfer of ownership has ended.",
    PERMISSION_DENIED: (f: Facts) =>
      f.own
        ? "Others record this for your own bookings and plans, or an owner does."
        : `Your role does not allow this${f.permission ? ` (${f.permission})` : ""}.`,
    REQUEST_TOO_LARGE: () => "The request is too large.",
    TENANT_NOT_FOUND: () => "This organization does not exist.",
    LOCATION_NOT_FOUND: () => "This location does not exist.",
    RESOURCE_NOT_FOUND: () => "This resource does not exist.",
    SERVICE_NOT_FOUND: () => "This service does not exist.",
    MEMBER_NOT_FOUND: () => "This member does not exist.",
    ROLE_NOT_FOUND: () => "This role does not exist.",
    SERVICE_ACCOUNT_NOT_FOUND: () => "This service account does not exist, or was revoked.",
    SESSION_NOT_FOUND: () => "This session does not exist. It may have been deleted.",
    SERIES_NOT_FOUND: () => "This series does not exist.",
    BOOKING_NOT_FOUND: () => "This booking does not exist.",
    PLAN_NOT_FOUND: () => "This plan is not for sale.",
    SUBSCRIPTION_NOT_FOUND: () => "This subscription does not exist.",
    ALREADY_EXISTS: (f: Facts) => `This already exists${f.field ? `: ${f.field}` : ""}.`,
    ROLE_IN_USE: (f: Facts) =>
      `Members still have this role (${f.holders}). Remove it from them first.`,
    ROLE_BUILT_IN: () => "Built-in roles cannot be changed. Create a custom role instead.",
    LAST_OWNER: () => "There must be an active owner. Make someone else an owner first.",
    COACH_INVALID: () => "This person cannot lead sessions: they are inactive or not staff.",
    RECURRENCE_INVALID: () => "This repeat rule gives no sessions, or too many.",
    SESSION_STATE: () => "This is no longer possible in the session’s current state.",
    CAPACITY_BELOW_TAKEN: (f: Facts) =>
      `${f.seats_taken} seats are already taken. The capacity cannot be lower.`,
    RESOURCE_BUSY: () => "The resource has another session at that time.",
    STAFF_BUSY: () => "The coach has another session at that time.",
    SESSION_NOT_OPEN: () => "This session cannot be booked at the moment.",
    ADVANCE_WINDOW: (f: Facts) => `It is too early to book. Booking opens ${f.opens_at}.`,
    CHANNEL_CLOSED: () => "This location does not take bookings this way.",
    PARTY_SIZE: (f: Facts) => `You can book between ${f.min} and ${f.max} seats at once.`,
    ALREADY_BOOKED: () => "Already booked or on the waitlist.",
    SESSION_FULL: () => "The session is full, and so is its waitlist.",
    WAITLIST_FULL: () => "The waitlist is full.",
    WAITLIST_CLOSED: () => "This session has no waitlist.",
    SEATS_AVAILABLE: () => "Seats are available. Book one instead.",
    NO_ACTIVE_PLAN: () => "You need an active plan to book.",
    PLAN_CHOICE_REQUIRED: () => "Several plans are active. Choose one.",
    OUTSTANDING_BALANCE: () => "This plan has an unpaid balance. Please settle it first.",
    NO_CREDITS: () => "There are no credits left.",
    DAILY_LIMIT: (f: Facts) => `The plan allows ${f.limit} bookings per day.`,
    WEEKLY_LIMIT: (f: Facts) => `The plan allows ${f.limit} bookings per week.`,
    OVERLAP: () => "There is another booking at that time.",
    HOLD_EXPIRED: () => "The hold has expired and the seat is available again.",
    BOOKING_STATE: () => "The booking has changed. This is no longer possible.",
    CANCELLATION_WINDOW: (f: Facts) =>
      `It is too late to cancel${f.deadline ? `. The deadline was ${f.deadline}` : ""}.`,
    RESCHEDULE_TARGET: () => "The booking cannot be rescheduled to this session.",
    IDEMPOTENCY_CONFLICT: () => "This was already submitted with different details.",
    ITEM_UNAVAILABLE: (f: Facts) =>
      f.name
        ? `${f.name}: only ${f.available} left at that time.`
        : "An item you selected is not available at that time.",
    BENEFIT_INVALID: () => "The partner membership is not valid.",
    BENEFIT_IN_USE: () =>
      "The membership number is in use by another member. Release it under Partner benefits.",
    BENEFIT_PROVIDER_NOT_FOUND: () => "There is no such partner.",
    ACTIVE_BOOKINGS: (f: Facts) =>
      `There are still bookings or waitlist entries (${f.active_bookings}).`,
    NOTHING_DUE: () => "Nothing is due for this booking.",
    NOTHING_TO_REFUND: () => "There is no credit to refund.",
    REFUND_EXCEEDS_CAPTURED: () => "The refund is more than what is left of the payment.",
    SUBSCRIPTION_STATE: () => "This is not possible in the subscription’s current state.",
    CHECK_IN_WINDOW: (f: Facts) => `Check-in is open from ${f.opens_at} to ${f.closes_at}.`,
    QR_INVALID: () =>
      "This QR code is outdated, or belongs to another session. Scan the one on the check-in display.",
    GPS_TOO_FAR: (f: Facts) =>
      `You are ${f.distance_meters} m away. Check-in works within ${f.max_meters} m.`,
    GPS_IMPRECISE: () =>
      "Your device does not know precisely enough where it is. Go to a window, or scan the code.",
    GPS_OUTDATED: () => "Your position is too old. Please try again.",
    QR_REQUIRED: () => "Scan the code on the check-in display. A position is not enough here.",
    GPS_NOT_AVAILABLE: () => "GPS check-in is not available here.",
    NOT_CONFIRMED: () => "The booking is not confirmed.",
    NOT_BOOKED: () => "There is no booking in this session.",
    BOOKING_CANCELLED: () => "The booking was cancelled.",
    LINK_INVALID: () => "This link is no longer valid.",
    WAITLIST_OFFER_NOT_LIVE: () => "This offer is no longer available.",
    WAITLIST_ENTRY_STATE: () => "The waitlist entry has changed. This is no longer possible.",
    RULES_INVALID: (f: Facts) =>
      `These rules are not valid${f.line ? `: line ${f.line}, column ${f.column}` : ""}.`,
    TEMPLATE_INVALID: (f: Facts) => `The text is not valid: line ${f.line}, column ${f.column}.`,
    TEMPLATE_HTML: () =>
      "HTML of your own needs a mail account or a verified domain of your own (Messages, Senders).",
    SENDING_DOMAIN_INVALID: () =>
      "This domain cannot be used. It must be one that you registered, or one below that.",
    SENDING_DOMAIN_NOT_FOUND: () => "There is no domain to verify.",
    DNS_RECORD_MISSING: (f: Facts) =>
      `The TXT record ${f.name} was not found. A new record can take some hours to be seen everywhere.`,
    DNS_RECORD_DIFFERENT: (f: Facts) => `The TXT record ${f.name} has another text: ${f.found}`,
    DNS_UNAVAILABLE: (f: Facts) => `The name servers do not answer for ${f.name}. Try again later.`,
    RECIPIENT_UNREACHABLE: () => "There is no phone number, address or device to send this to.",
    IMPORT_MISMATCH: (f: Facts) =>
      `The file and Berth would add up differently in row ${f.row}. Nothing was imported.`,
    IMPORT_STATE: () => "The import created nothing that could be undone.",
    IMPORT_UNDO_EXPIRED: () => "An import can be undone for 24 hours. They are over.",
    IMPORT_IN_USE: (f: Facts) =>
      `Nothing was undone: ${f.count} of what was imported is in use or was changed since. Such as: ${f.first}.`,
    IMPORT_NOT_FOUND: () => "There is no such import, or it was too long ago.",
    SIGN_IN_ENDED: () => "You are no longer signed in. Sign in again.",
    PASSKEY_INVALID: () => "This passkey signs nobody in here. Try again, or use a code.",
    SIGN_IN_CODE_INVALID: () =>
      "The code is wrong, or no longer good. Take the one of the newest mail, or ask for a new one.",
    BULK_TOO_LARGE: (f: Facts) =>
      f.of === "seats"
        ? `The sessions have more than ${f.limit} taken seats and waiting members. Work in parts.`
        : `More than ${f.limit} sessions match. Choose fewer days and work in parts.`,
    ETAG_MISMATCH: () => "Someone else changed this. Please review it and try again.",
    RATE_LIMITED: (f: Facts) =>
      `Too many requests. Try again in ${f.retry_after ?? "a few"} seconds.`,
    QUOTA_EXCEEDED: (f: Facts) =>
      f.quota === "sent_messages"
        ? "So many messages were sent today that no code can be sent. Try again later, or ask the front desk."
        : /^(contact_codes|test_messages|invitations_to_address)$/.test(f.quota ?? "")
          ? `At most ${f.limit} are sent in 24 hours. Try again tomorrow.`
          : `The limit of ${f.limit ?? "entries"} is reached. Ask the operator of the service to raise it.`,
    CONTACT_CODE_INVALID: (f: Facts) => `The code is wrong. Attempts left: ${f.guesses_left}.`,
    CONTACT_CODE_EXPIRED: () => "The code has expired. Ask for a new one.",
    CONTACT_NOT_PENDING: () => "There is nothing to confirm.",
    CONTACT_COUNTRY: () => "Codes are not sent to numbers of that country.",
    CONTACT_NOT_MOBILE: () =>
      "Only mobile numbers get codes. The front desk can confirm other numbers.",
    CONTENTION: () => "Too many people at once. Nothing was changed; please try again.",
    DEADLINE_EXCEEDED: () => "This took too long. Please try again.",
  } as Partial<Record<string, (facts: Facts) => string>>,
};
