package boot

import (
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// registerBuildInfo registers what the binary was built from. Labels of which the build recorded nothing are empty.
func registerBuildInfo(to prometheus.Registerer) {
	labels := prometheus.Labels{"version": "", "commit": "", "go": ""}
	if info, ok := debug.ReadBuildInfo(); ok {
		labels["version"], labels["go"] = info.Main.Version, info.GoVersion
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				labels["commit"] = setting.Value
			}
		}
	}
	promauto.With(to).NewGaugeVec(prometheus.GaugeOpts{
		Name: "berth_build_info", Help: "Always 1. The labels are what the node was built from.",
	}, []string{"version", "commit", "go"}).With(labels).Set(1)
}
