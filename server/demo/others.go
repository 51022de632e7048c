package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// club is a golf club: a tee time every eight minutes in the morning, for parties of up to four.
func club(ctx context.Context, b *builder) error {
	b.progress("demo club: courses, tee sheet")
	staff, err := b.createTenant(ctx, accounts.NewTenant{
		Name: "Dunes Golf Club", TimeZone: "Europe/London", Locale: "en", Currency: "GBP",
		Brand: brand.Brand{Accent: "#2f5d3a"},
	})
	if err != nil {
		return err
	}
	course, err := b.app.Catalog.CreateLocation(ctx, b.owner, catalog.Location{
		Name: "Links Course", TimeZone: "Europe/London", Address: "Shore Road",
		Point:    &catalog.Point{Latitude: 56.3430, Longitude: -2.8030},
		Channels: catalog.Channels(), Active: true,
	})
	if err != nil {
		return err
	}
	tee, err := b.app.Catalog.CreateResource(
		ctx, b.owner, catalog.Resource{Location: course.ID, Name: "Tee 1", Kind: "tee", Active: true},
	)
	if err != nil {
		return err
	}
	round, err := b.app.Catalog.CreateService(ctx, b.owner, catalog.Service{
		Name: "18 holes", Category: "Golf", Duration: 8 * time.Minute, DefaultCapacity: new(4), DefaultWaitlistCapacity: 4,
		MinParty: 1, MaxParty: 4, Delivery: catalog.InPerson, Active: true,
	})
	if err != nil {
		return err
	}
	if err := b.series(ctx, session.Input{Service: round.ID, Location: course.ID, Resource: tee.ID, Title: "Tee time"},
		"FREQ=DAILY;BYHOUR=8,9,10;BYMINUTE=0,8,16,24,32,40,48;COUNT=294"); err != nil {
		return err
	}
	if err := b.clubBookings(ctx, course); err != nil {
		return err
	}
	return b.clubWaitlist(ctx, staff.members[0], round, course)
}

// clubBookings fills the tee sheet: carts and caddies, a benefit card, and parties of guests who have paid for every
// third tee time of the next days.
func (b *builder) clubBookings(ctx context.Context, course catalog.Location) error {
	round := 4 * time.Hour
	var cart booking.Item
	for _, i := range []booking.Item{
		{Name: "Caddie", Kind: "caddie", Stock: 4, UseDuration: &round, Price: credit.Money{Currency: "GBP", Units: 60}},
		{Name: "Cart", Kind: "cart", Stock: 12, UseDuration: &round, Price: credit.Money{Currency: "GBP", Units: 35}},
	} {
		i.Location, i.Active = course.ID, true
		made, err := b.app.Catalog.CreateItem(ctx, b.owner, i)
		if err != nil {
			return err
		}
		cart = made
	}
	if _, err := b.app.Catalog.CreateBenefitProvider(ctx, b.owner, booking.BenefitProvider{
		Code: "LINKSCARD", Name: "Links Card", Pattern: `[A-Z]{2}-\d{6}`, Percent: 15, Active: true,
		Verification: booking.Unverified,
	}); err != nil {
		return err
	}
	sheet, err := b.schedule(ctx, b.now, b.now.Add(4*24*time.Hour))
	if err != nil {
		return err
	}
	for n, s := range sheet {
		if n%3 > 0 {
			continue
		}
		result, err := b.app.Bookings.Book(ctx, b.owner, bookings.BookRequest{
			Session: s.ID, Party: 2 + n%3, Channel: catalog.Phone, Hold: true, Guest: true,
			Contact: booking.Contact{Name: fmt.Sprintf("Party %d", n/3+1)},
			Items:   []booking.ItemChoice{{Item: cart.ID, Quantity: 1}},
		})
		if err == nil {
			_, err = b.app.Bookings.ConfirmBooking(ctx, b.owner, bookings.ConfirmRequest{ID: result.Booking.ID,
				Paid: &payment.Facts{
					Kind: payment.Capture, Method: "card", Amount: credit.Money{Currency: "GBP", Units: 180},
				}})
		}
		if !isExpected(err) {
			return err
		}
	}
	return nil
}

// salon is a hair salon with appointments of one seat, each with a stylist and a chair.
func salon(ctx context.Context, b *builder) error {
	b.progress("demo salon: stylists, appointments")
	staff, err := b.createTenant(ctx, accounts.NewTenant{
		Name: "Corner Salon", TimeZone: "Europe/Paris", Locale: "en", Currency: "EUR", Brand: brand.Brand{Accent: "#c2552d"},
	})
	if err != nil {
		return err
	}
	second, err := b.addMember(ctx, "demo-coach-2", "Sasha Stylist", tenant.RoleCoach)
	if err != nil {
		return err
	}
	shop, err := b.app.Catalog.CreateLocation(ctx, b.owner, catalog.Location{
		Name: "Corner", TimeZone: "Europe/Paris", Address: "Market Square", Channels: catalog.Channels(), Active: true,
	})
	if err != nil {
		return err
	}
	var cut catalog.Service
	for i, offer := range []struct {
		name, chair, rule string
		length            time.Duration
		stylist           tenant.MemberID
	}{
		{
			"Cut", "Chair 1", "FREQ=WEEKLY;BYDAY=TU,WE,TH,FR,SA;BYHOUR=9,10,11,13,14,15,16;BYMINUTE=0;COUNT=140",
			45 * time.Minute, staff.coaches[0],
		},
		{
			"Cut and colour", "Chair 2", "FREQ=WEEKLY;BYDAY=TU,TH,FR,SA;BYHOUR=9,12,15;BYMINUTE=0;COUNT=48", 2 * time.Hour,
			second.Member,
		},
	} {
		chair, err := b.app.Catalog.CreateResource(
			ctx, b.owner, catalog.Resource{Location: shop.ID, Name: offer.chair, Kind: "chair", Active: true},
		)
		if err != nil {
			return err
		}
		service, err := b.app.Catalog.CreateService(ctx, b.owner, catalog.Service{
			Name: offer.name, Category: "Hair", Duration: offer.length, DefaultCapacity: new(1), DefaultWaitlistCapacity: 3 - i,
			MinParty: 1, MaxParty: 1, Delivery: catalog.InPerson, Active: true,
		})
		if err != nil {
			return err
		}
		if err := b.series(
			ctx, session.Input{Service: service.ID, Location: shop.ID, Resource: chair.ID, Coach: offer.stylist}, offer.rule,
		); err != nil {
			return err
		}
		if i == 0 {
			cut = service
		}
	}
	return b.salonWaitlist(ctx, staff.members[0], cut)
}

// series creates and publishes a recurring schedule from tomorrow.
func (b *builder) series(ctx context.Context, template session.Input, rule string) error {
	_, _, err := b.app.Schedules.CreateSeries(ctx, b.owner, schedules.SeriesInput{
		Publish: true, Template: template,
		Pattern: session.Pattern{Rule: rule, Date: civil.DateOf(b.now, nil).AddDays(1), Time: civil.TimeOfDay{Hour: 8}},
	})
	return err
}
