package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"runtime/debug"
	"strings"
)

// A bom is a list of components in the format of CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json). It has neither a
// time nor a serial number: the same build gives the same list.
type bom struct {
	Format      string `json:"bomFormat"`
	SpecVersion string `json:"specVersion"`
	Version     int    `json:"version"`
	Metadata    struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components []component `json:"components"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Group   string `json:"group,omitempty"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl"` // https://github.com/package-url/purl-spec
	// As npm writes them.
	Hashes   json.RawMessage `json:"hashes,omitempty"`
	Licenses json.RawMessage `json:"licenses,omitempty"`
}

// writeSBOM writes the list of what is in a binary: the Go modules that it was linked from, the Go version, and the
// packages of the browser apps.
func writeSBOM(out io.Writer, info *debug.BuildInfo, run runner) error {
	printed, err := run(npmFolders[0], "npm", "sbom", "--sbom-format", "cyclonedx", "--omit", "dev")
	if err != nil {
		return fmt.Errorf("npm sbom: %w", err)
	}
	var npm bom
	if err := json.Unmarshal(printed, &npm); err != nil {
		return fmt.Errorf("npm sbom: %w", err)
	}
	list := bom{Format: "CycloneDX", SpecVersion: "1.5", Version: 1}
	list.Metadata.Component = goModule(&info.Main)
	list.Metadata.Component.Type = "application"
	list.Components = append(list.Components, goModule(&debug.Module{
		Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
	}))
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		list.Components = append(list.Components, goModule(module))
	}
	list.Components = append(list.Components, npm.Components...)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(list)
}

func goModule(module *debug.Module) component {
	version := module.Version
	if version == "(devel)" {
		version = "" // not built from a tag
	}
	purl := "pkg:golang/" + strings.ToLower(module.Path)
	if version != "" {
		purl += "@" + url.QueryEscape(version)
	}
	return component{Type: "library", Ref: purl, Name: module.Path, Version: version, PURL: purl}
}
