package messages

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// GetNotificationSettings reads the tenant's choices for all its messages.
func (s *Service) GetNotificationSettings(ctx context.Context, caller tenant.Caller) (notify.Settings, error) {
	var set notify.Settings
	var batch pg.Batch
	messagedb.FindNotificationSettings(&batch, caller.Tenant, &set)
	err := s.engine.Read(ctx, caller, &batch)
	return set, err
}

// UpdateNotificationSettings changes the tenant's choices for all its messages, if they still are at the version expected (nil: whichever).
func (s *Service) UpdateNotificationSettings(ctx context.Context, caller tenant.Caller, expect *int, edit func(*notify.Settings)) (notify.Settings, error) {
	var after notify.Settings
	err := s.engine.Write(ctx, caller, "notification.settings", func(ctx context.Context, tx *engine.Tx) error {
		var before notify.Settings
		var batch pg.Batch
		messagedb.FindNotificationSettings(&batch, tx.Tenant, &before)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		after = before
		after.PerDay = maps.Clone(before.PerDay)
		edit(&after)
		var err error
		if after, err = after.Normalize(); err != nil {
			return err
		}
		changes := catalog.AuditChanges(before.Facts(), after.Facts())
		if changes == nil {
			return nil
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		messagedb.PutNotificationSettings(tx.Tx, tx.Tenant, after)
		tx.Audit("notification_settings.updated", "tenant", tx.Tenant.UUID, "", changes)
		return nil
	}, engine.Answers(&after))
	return after, err
}

// Template is a wording in use.
type Template = messagedb.OwnTemplate

// TemplateQuery chooses templates. All that is set must hold.
type TemplateQuery struct {
	Topic   notify.Topic
	Channel notify.Channel
	Locale  string
}

// ListTemplates reads the tenant's own wording, and the defaults (at version 0) where it has none, in order of topic, channel and language.
func (s *Service) ListTemplates(ctx context.Context, caller tenant.Caller, q TemplateQuery) ([]Template, error) {
	var topics []notify.Topic
	if q.Topic != "" {
		topics = []notify.Topic{q.Topic}
	}
	var own []Template
	var batch pg.Batch
	messagedb.ListTemplates(&batch, caller.Tenant, topics, &own)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	var all []Template
	for _, t := range notify.Topics() {
		for _, c := range notify.Channels() {
			for _, locale := range notify.DefaultLocales() {
				d, ok := notify.DefaultTemplate(t, c, locale)
				if ok && !slices.ContainsFunc(own, func(o Template) bool { return o.Topic == t && o.Channel == c && o.Locale == locale }) {
					all = append(all, Template{Template: d})
				}
			}
		}
	}
	all = append(all, own...)
	all = slices.DeleteFunc(all, func(t Template) bool {
		return q.Topic != "" && t.Topic != q.Topic || q.Channel != "" && t.Channel != q.Channel || q.Locale != "" && t.Locale != q.Locale
	})
	place := func(t Template) (int, int) {
		return slices.Index(notify.Topics(), t.Topic), slices.Index(notify.Channels(), t.Channel)
	}
	slices.SortFunc(all, func(a, b Template) int {
		at, ac := place(a)
		bt, bc := place(b)
		return cmp.Or(cmp.Compare(at, bt), cmp.Compare(ac, bc), cmp.Compare(a.Locale, b.Locale))
	})
	return all, nil
}

// UpdateTemplate gives the tenant a wording of its own, if that still is at the version expected (nil: whichever; 0: the default).
// Errors: TEMPLATE_INVALID, INVALID_FIELD, ETAG_MISMATCH.
func (s *Service) UpdateTemplate(ctx context.Context, caller tenant.Caller, wording notify.Template, expect *int) (Template, error) {
	wording, err := wording.Check()
	if err != nil {
		return Template{}, err
	}
	var after Template
	err = s.engine.Write(ctx, caller, "template.update", func(ctx context.Context, tx *engine.Tx) error {
		before, err := template(ctx, tx, wording)
		if err != nil {
			return err
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		after = Template{Template: wording, Version: before.Version + 1, UpdatedAt: tx.Now}
		messagedb.PutTemplate(tx.Tx, tx.Tenant, after)
		tx.Audit("template.updated", "template", tx.Tenant.UUID, "", map[string]any{
			"topic": string(wording.Topic), "channel": string(wording.Channel), "locale": wording.Locale, "before": before.facts(), "after": templateFacts(after),
		})
		return nil
	}, engine.Answers(&after))
	return after, err
}

// template reads the tenant's own wording that has the same place; at version 0 there is none.
func template(ctx context.Context, tx *engine.Tx, wording notify.Template) (ownOrNone, error) {
	var own []Template
	var batch pg.Batch
	messagedb.ListTemplates(&batch, tx.Tenant, []notify.Topic{wording.Topic}, &own)
	err := tx.Load(ctx, &batch)
	for _, o := range own {
		if o.Channel == wording.Channel && o.Locale == wording.Locale {
			return ownOrNone{o}, err
		}
	}
	return ownOrNone{}, err
}

type ownOrNone struct{ Template }

func (o ownOrNone) facts() map[string]any {
	if o.Version == 0 {
		return nil
	}
	return templateFacts(o.Template)
}

func templateFacts(t Template) map[string]any {
	return map[string]any{"subject": t.Subject, "body": t.Body, "html": t.HTML}
}

// ResetTemplate goes back from the tenant's own wording to the default; false where there is none in the language.
func (s *Service) ResetTemplate(ctx context.Context, caller tenant.Caller, at TemplateQuery, expect *int) (Template, bool, error) {
	locale := notify.CanonicalLocale(at.Locale)
	err := s.engine.Write(ctx, caller, "template.reset", func(ctx context.Context, tx *engine.Tx) error {
		before, err := template(ctx, tx, notify.Template{Topic: at.Topic, Channel: at.Channel, Locale: locale})
		if err != nil {
			return err
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil || before.Version == 0 {
			return err
		}
		messagedb.DeleteTemplate(tx.Tx, tx.Tenant, at.Topic, at.Channel, locale)
		tx.Audit("template.reset", "template", tx.Tenant.UUID, "", map[string]any{
			"topic": string(at.Topic), "channel": string(at.Channel), "locale": locale, "before": before.facts(),
		})
		return nil
	}, engine.Answers())
	d, ok := notify.DefaultTemplate(at.Topic, at.Channel, locale)
	return Template{Template: d}, ok, err
}

// PreviewTemplate shows what a wording would look like, with example values. Without a body it is the one in use.
func (s *Service) PreviewTemplate(ctx context.Context, caller tenant.Caller, wording notify.Template) (notify.Rendered, error) {
	var own []Template
	var h house
	var batch pg.Batch
	h.queue(&batch, caller.Tenant)
	messagedb.ListTemplates(&batch, caller.Tenant, []notify.Topic{wording.Topic}, &own)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return notify.Rendered{}, err
	}
	locale := wording.Locale
	if wording.Body == "" {
		mine := make([]notify.Template, len(own))
		for i, o := range own {
			mine[i] = o.Template
		}
		wording = notify.Choose(mine, wording.Topic, wording.Channel, locale)
	} else {
		var err error
		if wording, err = wording.Check(); err != nil {
			return notify.Rendered{}, err
		}
		locale = wording.Locale
	}
	return notify.Render(wording, notify.Example(wording.Topic, locale), h.brand, s.publicURL+UnsubscribePath+"example")
}
