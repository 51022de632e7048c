package messages

import (
	"cmp"
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// Template is a tenant's own template, or a default one at version 0.
type Template = messagedb.OwnTemplate

// TemplateQuery selects templates. Empty fields match all.
type TemplateQuery struct {
	Topic   notify.Topic
	Channel delivery.Channel
	Locale  string
}

func (q TemplateQuery) matches(t Template) bool {
	return (q.Topic == "" || q.Topic == t.Topic) && (q.Channel == "" || q.Channel == t.Channel) &&
		(q.Locale == "" || q.Locale == t.Locale)
}

// ListNotificationTemplates returns the tenant's own templates, and the defaults (at version 0) that they do not
// replace, in order of topic, channel and locale.
func (s *Service) ListNotificationTemplates(
	ctx context.Context, caller tenant.Caller, q TemplateQuery,
) ([]Template, error) {
	q.Locale = content.CanonicalLocale(q.Locale)
	var topics []notify.Topic
	if q.Topic != "" {
		topics = []notify.Topic{q.Topic}
	}
	all, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]Template) {
		messagedb.ListTemplates(b, caller.Tenant, topics, into)
	})
	if err != nil {
		return nil, err
	}
	own := all
	for _, topic := range notify.Topics() {
		for _, c := range delivery.Channels() {
			for _, locale := range content.DefaultLocales() {
				t, ok := content.DefaultTemplate(topic, c, locale)
				if ok && ownTemplate(own, t).Version == 0 {
					all = append(all, Template{Template: t})
				}
			}
		}
	}
	all = slices.DeleteFunc(all, func(t Template) bool { return !q.matches(t) })
	order := func(t Template) (int, int) {
		return slices.Index(notify.Topics(), t.Topic), slices.Index(delivery.Channels(), t.Channel)
	}
	slices.SortFunc(all, func(a, b Template) int {
		topicA, channelA := order(a)
		topicB, channelB := order(b)
		return cmp.Or(cmp.Compare(topicA, topicB), cmp.Compare(channelA, channelB), cmp.Compare(a.Locale, b.Locale))
	})
	return all, nil
}

// GetNotificationTemplate returns the tenant's own template, or else the default (at version 0).
func (s *Service) GetNotificationTemplate(
	ctx context.Context, caller tenant.Caller, at TemplateQuery,
) (Template, error) {
	t := content.Template{Topic: at.Topic, Channel: at.Channel, Locale: content.CanonicalLocale(at.Locale)}
	own, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]Template) {
		messagedb.ListTemplates(b, caller.Tenant, []notify.Topic{t.Topic}, into)
	})
	if err != nil {
		return Template{}, err
	}
	if found := ownTemplate(own, t); found.Version > 0 {
		return found, nil
	}
	d, ok := content.DefaultTemplate(t.Topic, t.Channel, t.Locale)
	if !ok {
		return Template{}, errNoTemplate
	}
	return Template{Template: d}, nil
}

var errNoTemplate = fault.Missing(fault.TemplateNotFound, "Template")

// UpdateNotificationTemplate replaces the tenant's own template, if that still has the expected version; nil matches
// any, and the default has version 0. Errors: TEMPLATE_INVALID, INVALID_FIELD, ETAG_MISMATCH, TEMPLATE_HTML.
func (s *Service) UpdateNotificationTemplate(
	ctx context.Context, caller tenant.Caller, t content.Template, expect *int,
) (Template, error) {
	t, err := t.Check()
	if err != nil {
		return Template{}, err
	}
	transaction := engine.Transaction{Name: "notification_template.update", Replay: true}
	return engine.Transact(ctx, s.engine, caller, transaction, func(ctx context.Context, tx *engine.Tx) (Template, error) {
		before, senders, err := findTemplate(ctx, tx, t, expect)
		if err == nil {
			err = s.unseal(tx.Tenant, senders).CheckHTML(t.HTML)
		}
		if err != nil {
			return before, err
		}
		after := Template{Template: t, Version: before.Version + 1, UpdatedAt: tx.Now}
		messagedb.PutTemplate(tx.Tx, tx.Tenant, after)
		auditTemplate(tx, "notification_template.updated", t,
			map[string]any{"before": auditFields(before), "after": auditFields(after)})
		return after, nil
	})
}

// ResetNotificationTemplate deletes the tenant's own template and returns the default. It returns false if the locale
// has no default.
func (s *Service) ResetNotificationTemplate(
	ctx context.Context, caller tenant.Caller, at TemplateQuery, expect *int,
) (Template, bool, error) {
	t := content.Template{Topic: at.Topic, Channel: at.Channel, Locale: content.CanonicalLocale(at.Locale)}
	transaction := engine.Transaction{Name: "notification_template.reset", Replay: true}
	err := engine.Exec(ctx, s.engine, caller, transaction, func(ctx context.Context, tx *engine.Tx) error {
		before, _, err := findTemplate(ctx, tx, t, expect)
		if err != nil || before.Version == 0 {
			return err
		}
		messagedb.DeleteTemplate(tx.Tx, tx.Tenant, t.Topic, t.Channel, t.Locale)
		auditTemplate(tx, "notification_template.reset", t, map[string]any{"before": auditFields(before)})
		return nil
	})
	d, ok := content.DefaultTemplate(t.Topic, t.Channel, t.Locale)
	return Template{Template: d}, ok, err
}

// ownTemplate returns the template for the same topic, channel and locale; at version 0 if there is none.
func ownTemplate(own []Template, of content.Template) Template {
	for _, t := range own {
		if t.Topic == of.Topic && t.Channel == of.Channel && t.Locale == of.Locale {
			return t
		}
	}
	return Template{}
}

// findTemplate loads the tenant's own template for the same topic, channel and locale, and checks its version. Without
// one the version is 0. It also loads the tenant's senders.
func findTemplate(
	ctx context.Context, tx *engine.Tx, of content.Template, expect *int,
) (Template, *messagedb.Sealed, error) {
	var own []Template
	var senders *messagedb.Sealed
	var batch pg.Batch
	messagedb.FindSenders(&batch, tx.Tenant, &senders)
	messagedb.ListTemplates(&batch, tx.Tenant, []notify.Topic{of.Topic}, &own)
	if err := tx.Load(ctx, &batch); err != nil {
		return Template{}, nil, err
	}
	found := ownTemplate(own, of)
	return found, senders, fault.CheckVersion(expect, found.Version)
}

// auditFields are what the audit log keeps of a template.
func auditFields(t Template) map[string]any {
	if t.Version == 0 {
		return nil
	}
	return map[string]any{"subject": t.Subject, "body": t.Body, "html": t.HTML}
}

func auditTemplate(tx *engine.Tx, action string, t content.Template, changes map[string]any) {
	changes["topic"], changes["channel"], changes["locale"] = string(t.Topic), string(t.Channel), t.Locale
	record.Audit(tx, action, "notification_template", tx.Tenant.UUID, "", changes)
}

// PreviewNotificationTemplate renders a template with example values. Without a body it renders the template in use.
func (s *Service) PreviewNotificationTemplate(
	ctx context.Context, caller tenant.Caller, t content.Template,
) (content.Rendered, error) {
	var own []Template
	var profile tenantProfile
	var sealed *messagedb.Sealed
	var batch pg.Batch
	profile.queue(&batch, caller.Tenant)
	messagedb.FindSenders(&batch, caller.Tenant, &sealed)
	messagedb.ListTemplates(&batch, caller.Tenant, []notify.Topic{t.Topic}, &own)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return content.Rendered{}, err
	}
	senders := s.unseal(caller.Tenant, sealed)
	locale := t.Locale
	if t.Body == "" {
		t = content.Choose(templatesOf(own), t.Topic, t.Channel, locale)
	} else {
		var err error
		if t, err = t.Check(); err == nil {
			err = senders.CheckHTML(t.HTML)
		}
		if err != nil {
			return content.Rendered{}, err
		}
		locale = t.Locale
	}
	unsubscribe := s.publicURL + UnsubscribePath + "example"
	return content.Render(t, content.Example(t.Topic, locale), profile.brand, s.foot(senders, unsubscribe))
}
