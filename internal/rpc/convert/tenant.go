package convert

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	ChannelPrefix  = "CHANNEL_"
	DeliveryPrefix = "DELIVERY_"
)

func BrandMessage(b brand.Brand) *v1.Brand {
	if b == (brand.Brand{}) {
		return nil
	}
	return &v1.Brand{LogoUrl: b.LogoURL, AccentColor: b.Accent}
}

func BrandValue(m *v1.Brand) brand.Brand {
	return brand.Brand{LogoURL: m.GetLogoUrl(), Accent: m.GetAccentColor()}
}

func TargetText(target tenant.UUID) string {
	if target.IsZero() {
		return ""
	}
	return target.String()
}
