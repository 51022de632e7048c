package messageapi

import (
	"context"
	"slices"
	"time"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// GetNotificationPreferences handles NotificationService.GetNotificationPreferences.
func (s *Messages) GetNotificationPreferences(
	ctx context.Context, req *v1.GetNotificationPreferencesRequest,
) (*v1.GetNotificationPreferencesResponse, error) {
	p, err := s.Service.GetNotificationPreferences(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetMemberId()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.GetNotificationPreferencesResponse{Preferences: preferencesMessage(p)}, nil
}

// UpdateNotificationPreferences handles NotificationService.UpdateNotificationPreferences.
func (s *Messages) UpdateNotificationPreferences(
	ctx context.Context, req *v1.UpdateNotificationPreferencesRequest,
) (*v1.UpdateNotificationPreferencesResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	edit, err := preferencesEditValue(req.GetPreferences(), req.GetUpdateMask().GetPaths())
	if err != nil {
		return nil, err
	}
	edit.Version = expect
	p, err := s.Service.UpdateNotificationPreferences(ctx, request.Caller(ctx), edit)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateNotificationPreferencesResponse{Preferences: preferencesMessage(p)}, nil
}

// CreateCalendarFeed handles NotificationService.CreateCalendarFeed.
func (s *Messages) CreateCalendarFeed(
	ctx context.Context, _ *v1.CreateCalendarFeedRequest,
) (*v1.CreateCalendarFeedResponse, error) {
	url, err := s.Service.CreateCalendarFeed(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return &v1.CreateCalendarFeedResponse{Url: url}, nil
}

// DeleteCalendarFeed handles NotificationService.DeleteCalendarFeed.
func (s *Messages) DeleteCalendarFeed(
	ctx context.Context, _ *v1.DeleteCalendarFeedRequest,
) (*v1.DeleteCalendarFeedResponse, error) {
	if err := s.Service.DeleteCalendarFeed(ctx, request.Caller(ctx)); err != nil {
		return nil, err
	}
	return &v1.DeleteCalendarFeedResponse{}, nil
}

// GetNotificationSettings handles NotificationService.GetNotificationSettings.
func (s *Messages) GetNotificationSettings(
	ctx context.Context, _ *v1.GetNotificationSettingsRequest,
) (*v1.GetNotificationSettingsResponse, error) {
	settings, err := s.Service.GetNotificationSettings(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return &v1.GetNotificationSettingsResponse{Settings: settingsMessage(settings)}, nil
}

// UpdateNotificationSettings handles NotificationService.UpdateNotificationSettings.
func (s *Messages) UpdateNotificationSettings(
	ctx context.Context, req *v1.UpdateNotificationSettingsRequest,
) (*v1.UpdateNotificationSettingsResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	settings, err := s.Service.UpdateNotificationSettings(
		ctx, request.Caller(ctx), expect, editSettings(req.GetSettings(), req.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateNotificationSettingsResponse{Settings: settingsMessage(settings)}, nil
}

// GetNotificationTemplate handles NotificationService.GetNotificationTemplate.
func (s *Messages) GetNotificationTemplate(
	ctx context.Context, req *v1.GetNotificationTemplateRequest,
) (*v1.GetNotificationTemplateResponse, error) {
	t, err := s.Service.GetNotificationTemplate(ctx, request.Caller(ctx), templateQueryValue(req))
	if err != nil {
		return nil, err
	}
	return &v1.GetNotificationTemplateResponse{Template: templateMessage(t)}, nil
}

// ListNotificationTemplates handles NotificationService.ListNotificationTemplates.
func (s *Messages) ListNotificationTemplates(
	ctx context.Context, req *v1.ListNotificationTemplatesRequest,
) (*v1.ListNotificationTemplatesResponse, error) {
	templates, err := s.Service.ListNotificationTemplates(ctx, request.Caller(ctx), templateQueryValue(req.GetFilter()))
	if err != nil {
		return nil, err
	}
	response := new(v1.ListNotificationTemplatesResponse)
	for _, t := range templates {
		response.Templates = append(response.Templates, templateMessage(t))
	}
	return response, nil
}

// UpdateNotificationTemplate handles NotificationService.UpdateNotificationTemplate.
func (s *Messages) UpdateNotificationTemplate(
	ctx context.Context, req *v1.UpdateNotificationTemplateRequest,
) (*v1.UpdateNotificationTemplateResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	t, err := s.Service.UpdateNotificationTemplate(ctx, request.Caller(ctx), templateValue(req, req.GetTemplate()), expect)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateNotificationTemplateResponse{Template: templateMessage(t)}, nil
}

// PreviewNotificationTemplate handles NotificationService.PreviewNotificationTemplate.
func (s *Messages) PreviewNotificationTemplate(
	ctx context.Context, req *v1.PreviewNotificationTemplateRequest,
) (*v1.PreviewNotificationTemplateResponse, error) {
	template := templateValue(req, req.GetTemplate())
	rendered, err := s.Service.PreviewNotificationTemplate(ctx, request.Caller(ctx), template)
	if err != nil {
		return nil, err
	}
	return &v1.PreviewNotificationTemplateResponse{Message: renderedMessage(template.Channel, rendered)}, nil
}

// ResetNotificationTemplate handles NotificationService.ResetNotificationTemplate.
func (s *Messages) ResetNotificationTemplate(
	ctx context.Context, req *v1.ResetNotificationTemplateRequest,
) (*v1.ResetNotificationTemplateResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	t, ok, err := s.Service.ResetNotificationTemplate(ctx, request.Caller(ctx), templateQueryValue(req), expect)
	if err != nil {
		return nil, err
	}
	response := new(v1.ResetNotificationTemplateResponse)
	if ok {
		response.Template = templateMessage(t)
	}
	return response, nil
}

// deliveryCursor is a position in the delivery log.
type deliveryCursor struct {
	At time.Time
	ID tenant.DeliveryID
}

// listDeliveries reads one page of the delivery log.
func (s *Messages) listDeliveries(
	ctx context.Context, list convert.PageRequest, filter *v1.NotificationDeliveryFilter, outbox bool,
) ([]messages.Delivery, string, error) {
	page, err := convert.ParsePage[deliveryCursor](list)
	if err != nil {
		return nil, "", err
	}
	q := deliveryQueryValue(filter)
	q.Outbox, q.Limit = outbox, page.Limit()
	if page.After != nil {
		q.BeforeAt, q.BeforeID = page.After.At, page.After.ID
	}
	deliveries, err := s.Service.ListNotificationDeliveries(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, "", err
	}
	deliveries, next := convert.Paginate(
		page, deliveries, func(d messages.Delivery) deliveryCursor { return deliveryCursor{d.CreatedAt, d.ID} },
	)
	return deliveries, next, nil
}

// GetNotificationDelivery handles NotificationService.GetNotificationDelivery.
func (s *Messages) GetNotificationDelivery(
	ctx context.Context, req *v1.GetNotificationDeliveryRequest,
) (*v1.GetNotificationDeliveryResponse, error) {
	d, err := s.Service.GetNotificationDelivery(
		ctx, request.Caller(ctx), convert.ID[tenant.DeliveryID](req.GetNotificationDeliveryId()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.GetNotificationDeliveryResponse{Delivery: deliveryMessage(d)}, nil
}

// ListNotificationDeliveries handles NotificationService.ListNotificationDeliveries.
func (s *Messages) ListNotificationDeliveries(
	ctx context.Context, req *v1.ListNotificationDeliveriesRequest,
) (*v1.ListNotificationDeliveriesResponse, error) {
	deliveries, next, err := s.listDeliveries(ctx, req, req.GetFilter(), false)
	if err != nil {
		return nil, err
	}
	return &v1.ListNotificationDeliveriesResponse{Deliveries: deliveryMessages(deliveries), NextPageToken: next}, nil
}

// ListNotificationOutbox handles NotificationService.ListNotificationOutbox.
func (s *Messages) ListNotificationOutbox(
	ctx context.Context, req *v1.ListNotificationOutboxRequest,
) (*v1.ListNotificationOutboxResponse, error) {
	deliveries, next, err := s.listDeliveries(ctx, req, req.GetFilter(), true)
	if err != nil {
		return nil, err
	}
	response := &v1.ListNotificationOutboxResponse{NextPageToken: next}
	for _, d := range deliveries {
		response.Messages = append(
			response.Messages, &v1.OutboxMessage{Delivery: deliveryMessage(d), Message: renderedMessage(d.Channel, *d.Content)},
		)
	}
	return response, nil
}

// SendTestNotification handles NotificationService.SendTestNotification.
func (s *Messages) SendTestNotification(
	ctx context.Context, req *v1.SendTestNotificationRequest,
) (*v1.SendTestNotificationResponse, error) {
	deliveries, err := s.Service.SendTestNotification(
		ctx, request.Caller(ctx), convert.EnumName[notify.Topic](topicPrefix, req.GetTopic()),
		convert.EnumName[delivery.Channel](channelPrefix, req.GetChannel()), req.GetLocale(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.SendTestNotificationResponse{
		Deliveries:         deliveryMessages(deliveries),
		ConfirmationNeeded: len(deliveries) == 0,
	}, nil
}

// GetNotificationSenders handles NotificationService.GetNotificationSenders.
func (s *Messages) GetNotificationSenders(
	ctx context.Context,
	_ *v1.GetNotificationSendersRequest,
) (*v1.GetNotificationSendersResponse, error) {
	senders, err := s.Service.GetNotificationSenders(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return &v1.GetNotificationSendersResponse{Senders: s.sendersMessage(request.Caller(ctx), senders)}, nil
}

// ListSendingQuotas handles NotificationService.ListSendingQuotas.
func (s *Messages) ListSendingQuotas(
	ctx context.Context, _ *v1.ListSendingQuotasRequest,
) (*v1.ListSendingQuotasResponse, error) {
	quotas, err := s.Service.ListSendingQuotas(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	response := new(v1.ListSendingQuotasResponse)
	for _, q := range quotas {
		response.Quotas = append(response.Quotas, quotaMessage(q))
	}
	return response, nil
}

// UpdateNotificationSenders handles NotificationService.UpdateNotificationSenders.
func (s *Messages) UpdateNotificationSenders(
	ctx context.Context, req *v1.UpdateNotificationSendersRequest,
) (*v1.UpdateNotificationSendersResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	senders, err := s.Service.UpdateNotificationSenders(
		ctx, request.Caller(ctx), expect, editSenders(req.GetSenders(), req.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateNotificationSendersResponse{Senders: s.sendersMessage(request.Caller(ctx), senders)}, nil
}

// VerifySendingDomain handles NotificationService.VerifySendingDomain.
func (s *Messages) VerifySendingDomain(
	ctx context.Context, _ *v1.VerifySendingDomainRequest,
) (*v1.VerifySendingDomainResponse, error) {
	senders, err := s.Service.VerifySendingDomain(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return &v1.VerifySendingDomainResponse{Senders: s.sendersMessage(request.Caller(ctx), senders)}, nil
}

func (s *Messages) sendersMessage(caller tenant.Caller, senders messages.Senders) *v1.NotificationSenders {
	m := sendersMessage(senders)
	m.TwilioInboundUrl = s.Service.TwilioInboundURL(caller.Tenant)
	for _, c := range s.Service.ChannelSenders(senders) {
		m.InUse = append(m.InUse, &v1.SenderInUse{Channel: channelMessage(c.Channel), Provider: c.Provider, Own: c.Own})
	}
	return m
}

// preferencesEditValue converts the fields named by an update mask.
func preferencesEditValue(
	sent *v1.NotificationPreferencesInput, paths []string,
) (edit messages.PreferencesEdit, err error) {
	if slices.Contains(paths, "preferences") {
		var all []notify.Preference
		for _, p := range sent.GetPreferences() {
			all = append(all, notify.Preference{PreferenceKey: notify.PreferenceKey{
				Topic:   convert.EnumName[notify.Topic](topicPrefix, p.GetTopic()),
				Channel: convert.EnumName[delivery.Channel](channelPrefix, p.GetChannel()),
			}, Enabled: p.GetEnabled()})
		}
		edit.Chosen, err = notify.ParsePreferences(all)
	}
	if slices.Contains(paths, "quiet_hours") {
		edit.Quiet = new(quietHoursValue(sent.GetQuietHours()))
	}
	return edit, err
}
