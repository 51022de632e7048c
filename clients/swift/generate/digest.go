package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

const digestsFile = "digests.txt"

// servePlugin answers one request of buf, as every protoc plugin does.
func servePlugin(
	in io.Reader, out io.Writer, generate func(*pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error),
) error {
	encoded, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{}
	if err := proto.Unmarshal(encoded, request); err != nil {
		return err
	}
	response, err := generate(request)
	if err != nil {
		return err
	}
	response.SupportedFeatures = new(uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL))
	if encoded, err = proto.Marshal(response); err != nil {
		return err
	}
	_, err = out.Write(encoded)
	return err
}

// nothing generates no file.
func nothing(*pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	return &pluginpb.CodeGeneratorResponse{}, nil
}

// digest generates a file with the digest of each .proto file, in the format of sha256sum. The digest is that of the
// descriptor as the generators get it, without source info: comments do not count.
func digest(request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	digests := map[string]string{}
	for _, file := range request.GetProtoFile() {
		if !slices.Contains(request.GetFileToGenerate(), file.GetName()) {
			continue
		}
		file = proto.CloneOf(file)
		file.SourceCodeInfo = nil
		encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(file)
		if err != nil {
			return nil, err
		}
		digests[file.GetName()] = fmt.Sprintf("%x", sha256.Sum256(encoded))
	}
	return &pluginpb.CodeGeneratorResponse{File: []*pluginpb.CodeGeneratorResponse_File{{
		Name: new(digestsFile), Content: new(format(digests)),
	}}}, nil
}

func format(digests map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		fmt.Fprintf(&b, "%s  %s\n", digests[name], name)
	}
	return b.String()
}

// parse returns the digests by the names of their files.
func parse(text []byte) map[string]string {
	digests := map[string]string{}
	for line := range bytes.Lines(text) {
		if fields := strings.Fields(string(line)); len(fields) == 2 {
			digests[fields[1]] = fields[0]
		}
	}
	return digests
}

// changes lists the files that differ, with how they differ.
func changes(before, after map[string]string) []string {
	var list []string
	for name, digest := range after {
		switch old, ok := before[name]; {
		case !ok:
			list = append(list, name+" (new)")
		case old != digest:
			list = append(list, name+" (changed)")
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			list = append(list, name+" (deleted)")
		}
	}
	slices.Sort(list)
	return list
}
