package notify

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
)

// SendingLimit is how many messages the platform's account of a channel sends for a new tenant in 24 hours. 0 is no
// limit.
type SendingLimit struct {
	Total  int // to all countries together
	Abroad int // to each country that is not one of the tenant's own
}

// SendingLimits has the limits of the channels that have any.
type SendingLimits map[delivery.Channel]SendingLimit

// Limited reports whether a channel has a limit.
func (l SendingLimits) Limited(c delivery.Channel) bool { return l[c] != SendingLimit{} }

// SendingKey identifies a counter: a channel's messages to a country in an hour.
type SendingKey struct {
	Channel delivery.Channel
	Country string    // ISO 3166-1; UnknownCountry; empty: mail, or all countries together
	Hour    time.Time // its start
}

// UnknownCountry stands for the countries of numbers that belong to none.
const UnknownCountry = "ZZ"

// SendingHour is a counter with its numbers.
type SendingHour struct {
	SendingKey

	Sent    int // messages about all topics
	Waiting int // messages that were deferred to this hour
	Alarm   int // the highest share, in percent, that the tenant was told of
}

const (
	// sendingHours is how many hours, besides the current one, a limit adds up. With these, no 24 hours have more.
	sendingHours = 24
	// waitingHours is how far ahead room is looked for. What could wait longer has expired by then, or is not urgent.
	waitingHours = 7 * 24
	// sendingSpread is the time in which the tenants of an hour try again, so that they do not all do it at once.
	sendingSpread = 10 * time.Minute
)

// SendingSince returns the first hour whose messages still count.
func SendingSince(now time.Time) time.Time {
	return now.UTC().Truncate(time.Hour).Add(-sendingHours * time.Hour)
}

// codeCeiling is the share of a limit, in percent, from which on no codes and tests are sent. Members ask for them, so
// that many could spend any amount of the platform's money.
const codeCeiling = 300

// AlarmShares returns the shares of a limit, in percent, of which people are told. What cannot wait is sent beyond the
// limit, so the last one is for what only an operator can stop.
func AlarmShares() []int { return []int{80, 100, codeCeiling} }

// SendingAlarm says that messages have reached a share of a limit.
type SendingAlarm struct {
	Channel delivery.Channel `json:"channel"`
	Country string           `json:"country,omitempty"` // empty: all countries together
	Percent int              `json:"percent"`
	Limit   int              `json:"limit"`
	Used    int              `json:"used"`
}

// StopsCodes reports whether no codes are sent from this share on.
func (a SendingAlarm) StopsCodes() bool { return a.Percent >= codeCeiling }

// Sending is what a tenant may send through the platform's accounts. It counts what is sent and deferred while it
// decides. A nil Sending has no limits.
type Sending struct {
	now    time.Time
	first  time.Time // the hour of loads[…][0]
	spread time.Duration
	limits SendingLimits // with the tenant's standing
	levels map[delivery.Channel]int
	home   []string

	loads   map[limitKey]*load
	changes map[SendingKey]*SendingHour
	order   []SendingKey
}

// limitKey is a channel and a country, or all countries together.
type limitKey struct {
	channel delivery.Channel
	country string
}

// load has what was sent in each hour up to now, and what is deferred to each hour after that.
type load struct {
	hours [sendingHours + 1 + waitingHours]int
	told  int // the highest share of which the tenant was told
}

// NewSending returns what a tenant may send now. Defaults are the limits of a new tenant, hours what it has sent since
// SendingSince, and home its own countries.
func NewSending(
	in tenant.TenantID, defaults SendingLimits, standings []Standing, hours []SendingHour, home []string, now time.Time,
) *Sending {
	s := &Sending{
		now: now, first: SendingSince(now), limits: make(SendingLimits), levels: make(map[delivery.Channel]int), home: home,
		spread: (time.Duration(binary.BigEndian.Uint16(in.UUID[14:])) * sendingSpread >> 16).Truncate(time.Second),
		loads:  make(map[limitKey]*load), changes: make(map[SendingKey]*SendingHour),
	}
	for _, standing := range standings {
		s.levels[standing.Channel] = standing.Level
	}
	for c, limit := range defaults {
		s.limits[c] = SendingLimit{limit.Total << s.levels[c], limit.Abroad << s.levels[c]}
	}
	for _, h := range hours {
		if h.Hour.Before(s.first) {
			continue
		}
		n := h.Waiting
		if !h.Hour.After(now) {
			n = h.Sent
		}
		s.add(h.Channel, h.Country, h.Hour, n)
		told := &s.load(limitKey{h.Channel, h.Country}).told
		*told = max(*told, h.Alarm)
	}
	return s
}

func (s *Sending) load(k limitKey) *load {
	if s.loads[k] == nil {
		s.loads[k] = new(load)
	}
	return s.loads[k]
}

// add counts messages of an hour for their country, and for all together.
func (s *Sending) add(c delivery.Channel, country string, hour time.Time, n int) {
	at := int(hour.Sub(s.first) / time.Hour)
	if at < 0 || at > sendingHours+waitingHours {
		return
	}
	s.load(limitKey{c, ""}).hours[at] += n
	if country != "" {
		s.load(limitKey{c, country}).hours[at] += n
	}
}

// limit returns the limit for a channel and a country; 0: none.
func (s *Sending) limit(k limitKey) int {
	switch {
	case k.country == "":
		return s.limits[k.channel].Total
	case slices.Contains(s.home, k.country):
		return 0
	}
	return s.limits[k.channel].Abroad
}

// limitKeys returns the limits toward which a message counts.
func (s *Sending) limitKeys(c delivery.Channel, country string) []limitKey {
	var all []limitKey
	for _, k := range []limitKey{{c, ""}, {c, country}} {
		if s.limit(k) > 0 && !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}

// Limited reports whether a channel has a limit.
func (s *Sending) Limited(c delivery.Channel) bool { return s != nil && s.limits.Limited(c) }

// RoomAt returns when a message that can wait can be sent; zero: now. It takes into account what is already deferred,
// so that each hour gets as many messages as it has room for.
func (s *Sending) RoomAt(c delivery.Channel, country string) time.Time {
	if !s.Limited(c) {
		return time.Time{}
	}
	at := sendingHours
	for settled := false; !settled; { // an hour with room for one limit may have none for the other
		settled = true
		for _, k := range s.limitKeys(c, country) {
			if later := s.roomAt(k, at); later > at {
				at, settled = later, false
			}
		}
	}
	if at == sendingHours {
		return time.Time{}
	}
	return s.first.Add(time.Duration(at)*time.Hour + s.spread)
}

// roomAt returns the first hour, from one on, that has room for a limit.
func (s *Sending) roomAt(k limitKey, from int) int {
	l, limit := s.load(k), s.limit(k)
	used := 0
	for _, n := range l.hours[from-sendingHours : from] {
		used += n
	}
	for at := from; at < len(l.hours); at++ {
		if used += l.hours[at]; used < limit {
			return at
		}
		used -= l.hours[at-sendingHours]
	}
	return len(l.hours)
}

// Ceiling returns how many messages may be sent over a channel to a country before no codes and tests are sent, if as
// many were; 0: there is room.
func (s *Sending) Ceiling(c delivery.Channel, country string) int {
	if !s.Limited(c) {
		return 0
	}
	for _, k := range s.limitKeys(c, country) {
		if most := s.limit(k) * codeCeiling / 100; s.used(k) >= most {
			return most
		}
	}
	return 0
}

// Count counts a message that is sent now, whatever its topic, and returns its counter.
func (s *Sending) Count(c delivery.Channel, country string) SendingKey {
	if !s.Limited(c) {
		return SendingKey{}
	}
	change := s.change(c, country, s.now)
	change.Sent++
	s.add(c, country, change.Hour, 1)
	return change.SendingKey
}

// Wait counts a message that is deferred.
func (s *Sending) Wait(c delivery.Channel, country string, until time.Time) {
	change := s.change(c, country, until)
	change.Waiting++
	s.add(c, country, change.Hour, 1)
}

func (s *Sending) change(c delivery.Channel, country string, at time.Time) *SendingHour {
	key := SendingKey{c, country, at.UTC().Truncate(time.Hour)}
	if s.changes[key] == nil {
		s.changes[key] = &SendingHour{SendingKey: key}
		s.order = append(s.order, key)
	}
	return s.changes[key]
}

// Alarms returns the limits of which a share was reached now, or a day after the tenant was last told. It notes that
// the tenant is told of them.
func (s *Sending) Alarms() []SendingAlarm {
	if s == nil {
		return nil
	}
	var alarms []SendingAlarm
	for _, key := range slices.Clone(s.order) {
		for _, k := range s.limitKeys(key.Channel, key.Country) {
			alarm := SendingAlarm{Channel: k.channel, Country: k.country, Limit: s.limit(k), Used: s.used(k)}
			for _, percent := range AlarmShares() {
				if alarm.Used*100 >= alarm.Limit*percent {
					alarm.Percent = percent
				}
			}
			if told := &s.load(k).told; alarm.Percent > *told {
				*told = alarm.Percent
				s.change(k.channel, k.country, s.now).Alarm = alarm.Percent
				alarms = append(alarms, alarm)
			}
		}
	}
	return alarms
}

// used returns how many messages count now.
func (s *Sending) used(k limitKey) int {
	n := 0
	for _, sent := range s.load(k).hours[:sendingHours+1] {
		n += sent
	}
	return n
}

// Changes returns what to add to the counters.
func (s *Sending) Changes() []SendingHour {
	if s == nil {
		return nil
	}
	changes := make([]SendingHour, len(s.order))
	for i, key := range s.order {
		changes[i] = *s.changes[key]
	}
	return changes
}

// SendingQuota is a limit as people see it.
type SendingQuota struct {
	Channel delivery.Channel
	Country string // empty: all countries together
	Limit   int
	Used    int
	Waiting int       // deferred
	RoomAt  time.Time // when a message that can wait is sent; zero: now
	Growth  int       // how many times the limit of a new tenant it is
}

// Quotas returns the limits of each channel, and those of the other countries to which it has messages.
func (s *Sending) Quotas() []SendingQuota {
	var all []SendingQuota
	for _, c := range delivery.Channels() {
		countries := []string{""}
		for k := range s.loads {
			if k.channel == c && k.country != "" {
				countries = append(countries, k.country)
			}
		}
		slices.Sort(countries)
		for _, country := range countries {
			k := limitKey{c, country}
			if s.limit(k) == 0 {
				continue
			}
			waiting := 0
			for _, n := range s.load(k).hours[sendingHours+1:] {
				waiting += n
			}
			if used := s.used(k); country == "" || used+waiting > 0 {
				all = append(all, SendingQuota{
					c, country, s.limit(k), used, waiting, s.RoomAt(c, country), 1 << s.levels[c],
				})
			}
		}
	}
	return all
}
