package rpc

import (
	"context"
	"slices"
	"time"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	appmessages "github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// notificationService serves berth.v1.NotificationService.
type notificationService struct{ app *app.App }

func (s *notificationService) GetPreferences(ctx context.Context, req *connect.Request[v1.GetPreferencesRequest]) (*connect.Response[v1.GetPreferencesResponse], error) {
	p, err := s.app.Messages.GetNotificationPreferences(ctx, caller(ctx), id[tenant.MemberID](req.Msg.GetMemberId()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetPreferencesResponse{Preferences: preferencesMessage(p)})
}

func (s *notificationService) UpdatePreferences(ctx context.Context, req *connect.Request[v1.UpdatePreferencesRequest]) (*connect.Response[v1.UpdatePreferencesResponse], error) {
	edit, err := preferencesEdit(req.Msg.GetPreferences(), req.Msg.GetUpdateMask().GetPaths())
	if err != nil {
		return nil, err
	}
	p, err := s.app.Messages.UpdateNotificationPreferences(ctx, caller(ctx), edit)
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdatePreferencesResponse{Preferences: preferencesMessage(p)})
}

func (s *notificationService) CreateCalendarFeed(ctx context.Context, _ *connect.Request[v1.CreateCalendarFeedRequest]) (*connect.Response[v1.CreateCalendarFeedResponse], error) {
	url, err := s.app.Messages.CreateCalendarFeed(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreateCalendarFeedResponse{Url: url})
}

func (s *notificationService) DeleteCalendarFeed(ctx context.Context, _ *connect.Request[v1.DeleteCalendarFeedRequest]) (*connect.Response[v1.DeleteCalendarFeedResponse], error) {
	if err := s.app.Messages.DeleteCalendarFeed(ctx, caller(ctx)); err != nil {
		return nil, err
	}
	return reply(&v1.DeleteCalendarFeedResponse{})
}

func (s *notificationService) GetNotificationSettings(ctx context.Context, _ *connect.Request[v1.GetNotificationSettingsRequest]) (*connect.Response[v1.GetNotificationSettingsResponse], error) {
	settings, err := s.app.Messages.GetNotificationSettings(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetNotificationSettingsResponse{Settings: settingsMessage(settings)})
}

func (s *notificationService) UpdateNotificationSettings(ctx context.Context, req *connect.Request[v1.UpdateNotificationSettingsRequest]) (*connect.Response[v1.UpdateNotificationSettingsResponse], error) {
	sent := req.Msg.GetSettings()
	expect, err := expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	settings, err := s.app.Messages.UpdateNotificationSettings(ctx, caller(ctx), expect, editSettings(sent, req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateNotificationSettingsResponse{Settings: settingsMessage(settings)})
}

func (s *notificationService) ListTemplates(ctx context.Context, req *connect.Request[v1.ListTemplatesRequest]) (*connect.Response[v1.ListTemplatesResponse], error) {
	templates, err := s.app.Messages.ListTemplates(ctx, caller(ctx), appmessages.TemplateQuery{
		Topic: word[notify.Topic](topicPrefix, req.Msg.GetTopic()), Channel: word[notify.Channel](notifyChannelPrefix, req.Msg.GetChannel()),
		Locale: notify.CanonicalLocale(req.Msg.GetLocale()),
	})
	if err != nil {
		return nil, err
	}
	answer := new(v1.ListTemplatesResponse)
	for _, t := range templates {
		answer.Templates = append(answer.Templates, templateMessage(t))
	}
	return reply(answer)
}

func (s *notificationService) UpdateTemplate(ctx context.Context, req *connect.Request[v1.UpdateTemplateRequest]) (*connect.Response[v1.UpdateTemplateResponse], error) {
	expect, err := expected(req.Msg.GetTemplate().GetEtag())
	if err != nil {
		return nil, err
	}
	t, err := s.app.Messages.UpdateTemplate(ctx, caller(ctx), templateValue(req.Msg.GetTemplate()), expect)
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateTemplateResponse{Template: templateMessage(t)})
}

func (s *notificationService) PreviewTemplate(ctx context.Context, req *connect.Request[v1.PreviewTemplateRequest]) (*connect.Response[v1.PreviewTemplateResponse], error) {
	wording := templateValue(req.Msg.GetTemplate())
	rendered, err := s.app.Messages.PreviewTemplate(ctx, caller(ctx), wording)
	if err != nil {
		return nil, err
	}
	return reply(&v1.PreviewTemplateResponse{Message: renderedMessage(wording.Channel, rendered)})
}

func (s *notificationService) ResetTemplate(ctx context.Context, req *connect.Request[v1.ResetTemplateRequest]) (*connect.Response[v1.ResetTemplateResponse], error) {
	expect, err := expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	t, ok, err := s.app.Messages.ResetTemplate(ctx, caller(ctx), appmessages.TemplateQuery{
		Topic: word[notify.Topic](topicPrefix, req.Msg.GetTopic()), Channel: word[notify.Channel](notifyChannelPrefix, req.Msg.GetChannel()),
		Locale: req.Msg.GetLocale(),
	}, expect)
	if err != nil {
		return nil, err
	}
	answer := new(v1.ResetTemplateResponse)
	if ok {
		answer.Template = templateMessage(t)
	}
	return reply(answer)
}

// deliveryCursor is a position in the delivery log.
type deliveryCursor struct {
	At time.Time
	ID tenant.DeliveryID
}

// deliveries reads one page of the log.
func (s *notificationService) deliveries(ctx context.Context, request pageRequest, filter *v1.DeliveryFilter, outbox bool) ([]appmessages.Delivery, string, error) {
	page, err := openPage[deliveryCursor](request)
	if err != nil {
		return nil, "", err
	}
	q := deliveryQuery(filter)
	q.Outbox, q.Limit = outbox, page.Size+1
	if page.After != nil {
		q.BeforeAt, q.BeforeID = page.After.At, page.After.ID
	}
	lines, err := s.app.Messages.ListDeliveries(ctx, caller(ctx), q)
	if err != nil {
		return nil, "", err
	}
	return cut(page, lines, func(d appmessages.Delivery) deliveryCursor { return deliveryCursor{d.CreatedAt, d.ID} })
}

func (s *notificationService) ListDeliveries(ctx context.Context, req *connect.Request[v1.ListDeliveriesRequest]) (*connect.Response[v1.ListDeliveriesResponse], error) {
	lines, next, err := s.deliveries(ctx, req.Msg, req.Msg.GetFilter(), false)
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListDeliveriesResponse{Deliveries: deliveryMessages(lines), NextPageToken: next})
}

func (s *notificationService) ListOutbox(ctx context.Context, req *connect.Request[v1.ListOutboxRequest]) (*connect.Response[v1.ListOutboxResponse], error) {
	lines, next, err := s.deliveries(ctx, req.Msg, req.Msg.GetFilter(), true)
	if err != nil {
		return nil, err
	}
	answer := &v1.ListOutboxResponse{NextPageToken: next}
	for _, d := range lines {
		answer.Messages = append(answer.Messages, &v1.OutboxMessage{Delivery: deliveryMessage(d), Message: renderedMessage(d.Channel, *d.Content)})
	}
	return reply(answer)
}

func (s *notificationService) SendTest(ctx context.Context, req *connect.Request[v1.SendTestRequest]) (*connect.Response[v1.SendTestResponse], error) {
	lines, err := s.app.Messages.SendTest(ctx, caller(ctx), word[notify.Topic](topicPrefix, req.Msg.GetTopic()),
		word[notify.Channel](notifyChannelPrefix, req.Msg.GetChannel()), req.Msg.GetLocale())
	if err != nil {
		return nil, err
	}
	return reply(&v1.SendTestResponse{Deliveries: deliveryMessages(lines)})
}

func (s *notificationService) GetSenders(ctx context.Context, _ *connect.Request[v1.GetSendersRequest]) (*connect.Response[v1.GetSendersResponse], error) {
	senders, err := s.app.Messages.GetSenders(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetSendersResponse{Senders: s.sendersMessage(caller(ctx), senders)})
}

func (s *notificationService) UpdateSenders(ctx context.Context, req *connect.Request[v1.UpdateSendersRequest]) (*connect.Response[v1.UpdateSendersResponse], error) {
	sent, paths := req.Msg.GetSenders(), req.Msg.GetUpdateMask().GetPaths()
	expect, err := expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	senders, err := s.app.Messages.UpdateSenders(ctx, caller(ctx), expect, editSenders(sent, paths))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateSendersResponse{Senders: s.sendersMessage(caller(ctx), senders)})
}

func (s *notificationService) sendersMessage(who tenant.Caller, senders appmessages.Senders) *v1.Senders {
	m := sendersMessage(senders)
	m.TwilioInboundUrl = s.app.Messages.TwilioInboundURL(who.Tenant)
	for _, c := range s.app.Messages.Carriers(senders) {
		m.InUse = append(m.InUse, &v1.SenderInUse{Channel: notifyChannel(c.Channel), Provider: c.Provider, Own: c.Own})
	}
	return m
}

// preferencesEdit reads what a mask names.
func preferencesEdit(sent *v1.NotificationPreferences, paths []string) (appmessages.PreferencesEdit, error) {
	var edit appmessages.PreferencesEdit
	if slices.Contains(paths, "preferences") {
		edit.Chosen = make(notify.Preferences)
		for _, p := range sent.GetPreferences() {
			c := notify.Choice{Topic: word[notify.Topic](topicPrefix, p.GetTopic()), Channel: word[notify.Channel](notifyChannelPrefix, p.GetChannel())}
			if _, twice := edit.Chosen[c]; twice {
				return edit, fault.Invalid("preferences.preferences", "%s by %s is named twice.", c.Topic, c.Channel)
			}
			edit.Chosen[c] = p.GetEnabled()
		}
	}
	if slices.Contains(paths, "quiet_hours") {
		edit.Quiet = new(quietHours(sent.GetQuietHours()))
	}
	return edit, nil
}
