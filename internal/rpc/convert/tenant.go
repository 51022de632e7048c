package convert

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/tenant"
)

// Prefixes of enum values about locations and services.
const (
	ChannelPrefix  = "BOOKING_CHANNEL_"
	DeliveryPrefix = "DELIVERY_MODE_"
)

// BrandMessage converts a brand. The zero brand becomes nil.
func BrandMessage(b brand.Brand) *v1.Brand {
	if b == (brand.Brand{}) {
		return nil
	}
	return &v1.Brand{LogoUrl: b.LogoURL, AccentColor: b.Accent}
}

// BrandValue converts a brand of the contract.
func BrandValue(m *v1.Brand) brand.Brand {
	return brand.Brand{LogoURL: m.GetLogoUrl(), Accent: m.GetAccentColor()}
}

// UUIDText returns the text of an identifier whose kind is not known. The zero UUID becomes "".
func UUIDText(id tenant.UUID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}
