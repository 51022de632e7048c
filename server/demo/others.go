package demo

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/session"
	"github.com/berthhq/berth/internal/tenant"
)

// club is a golf club: a tee time every eight minutes at weekends, for parties of up to four.
func club(ctx context.Context, b *builder) error {
	b.progress("demo club: courses, tee sheet")
	if _, err := b.open(ctx, app.NewTenant{Name: "Dunes Golf Club", TimeZone: "Europe/London", Locale: "en", Currency: "GBP"}); err != nil {
		return err
	}
	course, err := b.app.CreateLocation(ctx, b.owner, catalog.Location{
		Name: "Links Course", TimeZone: "Europe/London", Address: "Shore Road", Point: &catalog.Point{Latitude: 56.3430, Longitude: -2.8030},
		Channels: catalog.Channels(), Active: true,
	})
	if err != nil {
		return err
	}
	tee, err := b.app.CreateResource(ctx, b.owner, catalog.Resource{Location: course.ID, Name: "Tee 1", Kind: "tee", Active: true})
	if err != nil {
		return err
	}
	round, err := b.app.CreateService(ctx, b.owner, catalog.Service{
		Name: "18 holes", Category: "Golf", Duration: 8 * time.Minute, DefaultCapacity: new(4), DefaultWaitlistCapacity: 4,
		MinParty: 1, MaxParty: 4, Delivery: catalog.InPerson, Active: true,
	})
	if err != nil {
		return err
	}
	return b.series(ctx, session.Input{Service: round.ID, Location: course.ID, Resource: tee.ID, Title: "Tee time"},
		"FREQ=WEEKLY;BYDAY=SA,SU;BYHOUR=8,9,10;BYMINUTE=0,8,16,24,32,40,48;COUNT=168")
}

// salon is a hairdresser's: appointments of one seat, each with a stylist and a chair.
func salon(ctx context.Context, b *builder) error {
	b.progress("demo salon: stylists, appointments")
	staff, err := b.open(ctx, app.NewTenant{Name: "Corner Salon", TimeZone: "Europe/Paris", Locale: "en", Currency: "EUR"})
	if err != nil {
		return err
	}
	second, err := b.hire(ctx, "demo-coach-2", "Sasha Stylist", tenant.RoleCoach)
	if err != nil {
		return err
	}
	shop, err := b.app.CreateLocation(ctx, b.owner, catalog.Location{
		Name: "Corner", TimeZone: "Europe/Paris", Address: "Market Square", Channels: catalog.Channels(), Active: true,
	})
	if err != nil {
		return err
	}
	for i, offer := range []struct {
		name, chair, rule string
		length            time.Duration
		stylist           tenant.MemberID
	}{
		{"Cut", "Chair 1", "FREQ=WEEKLY;BYDAY=TU,WE,TH,FR,SA;BYHOUR=9,10,11,13,14,15,16;BYMINUTE=0;COUNT=140", 45 * time.Minute, staff.coaches[0]},
		{"Cut and colour", "Chair 2", "FREQ=WEEKLY;BYDAY=TU,TH,FR,SA;BYHOUR=9,12,15;BYMINUTE=0;COUNT=48", 2 * time.Hour, second.Member},
	} {
		chair, err := b.app.CreateResource(ctx, b.owner, catalog.Resource{Location: shop.ID, Name: offer.chair, Kind: "chair", Active: true})
		if err != nil {
			return err
		}
		service, err := b.app.CreateService(ctx, b.owner, catalog.Service{
			Name: offer.name, Category: "Hair", Duration: offer.length, DefaultCapacity: new(1), DefaultWaitlistCapacity: 3 - i,
			MinParty: 1, MaxParty: 1, Delivery: catalog.InPerson, Active: true,
		})
		if err != nil {
			return err
		}
		if err := b.series(ctx, session.Input{Service: service.ID, Location: shop.ID, Resource: chair.ID, Coach: offer.stylist}, offer.rule); err != nil {
			return err
		}
	}
	return nil
}

// series puts a recurring schedule on sale from tomorrow.
func (b *builder) series(ctx context.Context, template session.Input, rule string) error {
	_, _, err := b.app.CreateSeries(ctx, b.owner, app.SeriesInput{
		Publish: true, Template: template,
		Pattern: session.Pattern{Rule: rule, Date: civil.DateOf(b.now, nil).AddDays(1), Time: civil.TimeOfDay{Hour: 8}},
	})
	return err
}
