package messageapi

import (
	"context"
	"slices"
	"time"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

func (s *Messages) GetPreferences(
	ctx context.Context, req *connect.Request[v1.GetPreferencesRequest],
) (*connect.Response[v1.GetPreferencesResponse], error) {
	p, err := s.Messages.GetNotificationPreferences(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.Msg.GetMemberId()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.GetPreferencesResponse{Preferences: preferencesMessage(p)})
}

func (s *Messages) UpdatePreferences(
	ctx context.Context, req *connect.Request[v1.UpdatePreferencesRequest],
) (*connect.Response[v1.UpdatePreferencesResponse], error) {
	edit, err := preferencesEdit(req.Msg.GetPreferences(), req.Msg.GetUpdateMask().GetPaths())
	if err != nil {
		return nil, err
	}
	p, err := s.Messages.UpdateNotificationPreferences(ctx, request.Caller(ctx), edit)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdatePreferencesResponse{Preferences: preferencesMessage(p)})
}

func (s *Messages) CreateCalendarFeed(
	ctx context.Context, _ *connect.Request[v1.CreateCalendarFeedRequest],
) (*connect.Response[v1.CreateCalendarFeedResponse], error) {
	url, err := s.Messages.CreateCalendarFeed(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CreateCalendarFeedResponse{Url: url})
}

func (s *Messages) DeleteCalendarFeed(
	ctx context.Context, _ *connect.Request[v1.DeleteCalendarFeedRequest],
) (*connect.Response[v1.DeleteCalendarFeedResponse], error) {
	if err := s.Messages.DeleteCalendarFeed(ctx, request.Caller(ctx)); err != nil {
		return nil, err
	}
	return convert.Reply(&v1.DeleteCalendarFeedResponse{})
}

func (s *Messages) GetNotificationSettings(
	ctx context.Context, _ *connect.Request[v1.GetNotificationSettingsRequest],
) (*connect.Response[v1.GetNotificationSettingsResponse], error) {
	settings, err := s.Messages.GetNotificationSettings(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.GetNotificationSettingsResponse{Settings: settingsMessage(settings)})
}

func (s *Messages) UpdateNotificationSettings(
	ctx context.Context, req *connect.Request[v1.UpdateNotificationSettingsRequest],
) (*connect.Response[v1.UpdateNotificationSettingsResponse], error) {
	sent := req.Msg.GetSettings()
	expect, err := convert.Expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	settings, err := s.Messages.UpdateNotificationSettings(
		ctx, request.Caller(ctx), expect, editSettings(sent, req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateNotificationSettingsResponse{Settings: settingsMessage(settings)})
}

func (s *Messages) ListTemplates(
	ctx context.Context, req *connect.Request[v1.ListTemplatesRequest],
) (*connect.Response[v1.ListTemplatesResponse], error) {
	templates, err := s.Messages.ListTemplates(ctx, request.Caller(ctx), messages.TemplateQuery{
		Topic:   convert.Word[notify.Topic](topicPrefix, req.Msg.GetTopic()),
		Channel: convert.Word[notify.Channel](notifyChannelPrefix, req.Msg.GetChannel()),
		Locale:  notify.CanonicalLocale(req.Msg.GetLocale()),
	})
	if err != nil {
		return nil, err
	}
	answer := new(v1.ListTemplatesResponse)
	for _, t := range templates {
		answer.Templates = append(answer.Templates, templateMessage(t))
	}
	return convert.Reply(answer)
}

func (s *Messages) UpdateTemplate(
	ctx context.Context, req *connect.Request[v1.UpdateTemplateRequest],
) (*connect.Response[v1.UpdateTemplateResponse], error) {
	expect, err := convert.Expected(req.Msg.GetTemplate().GetEtag())
	if err != nil {
		return nil, err
	}
	t, err := s.Messages.UpdateTemplate(ctx, request.Caller(ctx), templateValue(req.Msg.GetTemplate()), expect)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateTemplateResponse{Template: templateMessage(t)})
}

func (s *Messages) PreviewTemplate(
	ctx context.Context, req *connect.Request[v1.PreviewTemplateRequest],
) (*connect.Response[v1.PreviewTemplateResponse], error) {
	wording := templateValue(req.Msg.GetTemplate())
	rendered, err := s.Messages.PreviewTemplate(ctx, request.Caller(ctx), wording)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.PreviewTemplateResponse{Message: renderedMessage(wording.Channel, rendered)})
}

func (s *Messages) ResetTemplate(
	ctx context.Context, req *connect.Request[v1.ResetTemplateRequest],
) (*connect.Response[v1.ResetTemplateResponse], error) {
	expect, err := convert.Expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	t, ok, err := s.Messages.ResetTemplate(ctx, request.Caller(ctx), messages.TemplateQuery{
		Topic:   convert.Word[notify.Topic](topicPrefix, req.Msg.GetTopic()),
		Channel: convert.Word[notify.Channel](notifyChannelPrefix, req.Msg.GetChannel()),
		Locale:  req.Msg.GetLocale(),
	}, expect)
	if err != nil {
		return nil, err
	}
	answer := new(v1.ResetTemplateResponse)
	if ok {
		answer.Template = templateMessage(t)
	}
	return convert.Reply(answer)
}

// deliveryCursor is a position in the delivery log.
type deliveryCursor struct {
	At time.Time
	ID tenant.DeliveryID
}

// deliveries reads one page of the log.
func (s *Messages) deliveries(
	ctx context.Context, list convert.PageRequest, filter *v1.DeliveryFilter, outbox bool,
) ([]messages.Delivery, string, error) {
	page, err := convert.OpenPage[deliveryCursor](list)
	if err != nil {
		return nil, "", err
	}
	q := deliveryQuery(filter)
	q.Outbox, q.Limit = outbox, page.Size+1
	if page.After != nil {
		q.BeforeAt, q.BeforeID = page.After.At, page.After.ID
	}
	lines, err := s.Messages.ListDeliveries(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, "", err
	}
	return convert.Cut(
		page, lines, func(d messages.Delivery) deliveryCursor { return deliveryCursor{d.CreatedAt, d.ID} },
	)
}

func (s *Messages) ListDeliveries(
	ctx context.Context, req *connect.Request[v1.ListDeliveriesRequest],
) (*connect.Response[v1.ListDeliveriesResponse], error) {
	lines, next, err := s.deliveries(ctx, req.Msg, req.Msg.GetFilter(), false)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListDeliveriesResponse{Deliveries: deliveryMessages(lines), NextPageToken: next})
}

func (s *Messages) ListOutbox(
	ctx context.Context, req *connect.Request[v1.ListOutboxRequest],
) (*connect.Response[v1.ListOutboxResponse], error) {
	lines, next, err := s.deliveries(ctx, req.Msg, req.Msg.GetFilter(), true)
	if err != nil {
		return nil, err
	}
	answer := &v1.ListOutboxResponse{NextPageToken: next}
	for _, d := range lines {
		answer.Messages = append(
			answer.Messages, &v1.OutboxMessage{Delivery: deliveryMessage(d), Message: renderedMessage(d.Channel, *d.Content)},
		)
	}
	return convert.Reply(answer)
}

func (s *Messages) SendTest(
	ctx context.Context, req *connect.Request[v1.SendTestRequest],
) (*connect.Response[v1.SendTestResponse], error) {
	lines, err := s.Messages.SendTest(ctx, request.Caller(ctx), convert.Word[notify.Topic](
		topicPrefix, req.Msg.GetTopic(),
	),
		convert.Word[notify.Channel](notifyChannelPrefix, req.Msg.GetChannel()), req.Msg.GetLocale())
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.SendTestResponse{Deliveries: deliveryMessages(lines)})
}

func (s *Messages) GetSenders(
	ctx context.Context, _ *connect.Request[v1.GetSendersRequest],
) (*connect.Response[v1.GetSendersResponse], error) {
	senders, err := s.Messages.GetSenders(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.GetSendersResponse{Senders: s.sendersMessage(request.Caller(ctx), senders)})
}

func (s *Messages) UpdateSenders(
	ctx context.Context, req *connect.Request[v1.UpdateSendersRequest],
) (*connect.Response[v1.UpdateSendersResponse], error) {
	sent, paths := req.Msg.GetSenders(), req.Msg.GetUpdateMask().GetPaths()
	expect, err := convert.Expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	senders, err := s.Messages.UpdateSenders(ctx, request.Caller(ctx), expect, editSenders(sent, paths))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateSendersResponse{Senders: s.sendersMessage(request.Caller(ctx), senders)})
}

func (s *Messages) sendersMessage(who tenant.Caller, senders messages.Senders) *v1.Senders {
	m := sendersMessage(senders)
	m.TwilioInboundUrl = s.Messages.TwilioInboundURL(who.Tenant)
	for _, c := range s.Messages.ChannelSenders(senders) {
		m.InUse = append(m.InUse, &v1.SenderInUse{Channel: notifyChannel(c.Channel), Provider: c.Provider, Own: c.Own})
	}
	return m
}

// preferencesEdit reads what a mask names.
func preferencesEdit(sent *v1.NotificationPreferences, paths []string) (messages.PreferencesEdit, error) {
	var edit messages.PreferencesEdit
	if slices.Contains(paths, "preferences") {
		edit.Chosen = make(notify.Preferences)
		for _, p := range sent.GetPreferences() {
			c := notify.PreferenceKey{
				Topic:   convert.Word[notify.Topic](topicPrefix, p.GetTopic()),
				Channel: convert.Word[notify.Channel](notifyChannelPrefix, p.GetChannel()),
			}
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
