package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// recordEnv is the folder in which the stand-ins for the generators record their requests.
const recordEnv = "GENERATE_TEST_RECORD"

// The test's binary is also the two generators, by its name, and the plugins of the command, by their mode.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	switch {
	case strings.HasPrefix(name, "protoc-gen-"):
		exitOn(servePlugin(os.Stdin, os.Stdout, func(
			request *pluginpb.CodeGeneratorRequest,
		) (*pluginpb.CodeGeneratorResponse, error) {
			return record(name, request)
		}))
	case len(os.Args) == 2 && (os.Args[1] == "digest" || os.Args[1] == "nothing"):
		exitOn(run(nil, os.Args[1:], os.Stdin, os.Stdout)) //nolint:staticcheck // plugins need no context
	default:
		os.Exit(m.Run())
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// record saves a request, and generates a file for each .proto file. buf asks once for each folder.
func record(name string, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	encoded, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(os.Getenv(recordEnv), name+".*")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Write(encoded); err != nil {
		return nil, err
	}
	response := &pluginpb.CodeGeneratorResponse{}
	kind := map[string]string{"protoc-gen-swift": ".pb.swift", "protoc-gen-connect-swift": ".connect.swift"}[name]
	for _, path := range request.GetFileToGenerate() {
		response.File = append(response.File, &pluginpb.CodeGeneratorResponse_File{
			Name: new(strings.TrimSuffix(path, ".proto") + kind), Content: new("// " + path + "\n"),
		})
	}
	return response, nil
}

const (
	sessionProto = `syntax = "proto3";
package berth.v1;
import "buf/validate/validate.proto";
import "google/type/date.proto";
// A class.
message Session {
  google.type.Date date = 1;
  string title = 2 [(buf.validate.field).required = true];
}
`
	dateProto = `syntax = "proto3";
package google.type;
message Date { int32 day = 1; }
`
	detailsProto = `syntax = "proto3";
package google.rpc;
message ErrorInfo { string reason = 1; }
`
	validateProto = `syntax = "proto2";
package buf.validate;
import "google/protobuf/descriptor.proto";
message FieldRules { optional bool required = 1; }
message OtherRules { optional bool required = 1; }
extend google.protobuf.FieldOptions { optional FieldRules field = 1159; optional FieldRules predefined = 1160; }
extend google.protobuf.MessageOptions { optional OtherRules message = 1159; }
extend google.protobuf.OneofOptions { optional OtherRules oneof = 1159; }
`
)

// repository creates a small repository with the template of this one.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{"go.mod", "tools/go.mod", "tools/go.sum", "proto/buf.yaml", template} {
		write(t, root, name, string(expect.Value(os.ReadFile(filepath.Join("../../..", name)))(t)))
	}
	write(t, root, "proto/berth/v1/session.proto", sessionProto)
	write(t, root, "proto/third_party/google/type/date.proto", dateProto)
	write(t, root, "proto/third_party/google/rpc/error_details.proto", detailsProto)
	write(t, root, "proto/third_party/buf/validate/validate.proto", validateProto)
	write(t, root, generated+"/README.md", "Generated.\n")
	write(t, root, generated+"/berth/v1/deleted.pb.swift", "// of a file that is gone\n")
	return root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// standIns puts this binary on the PATH as both generators. It returns the folder with their requests.
func standIns(t *testing.T) string {
	t.Helper()
	program := expect.Value(os.Executable())(t)
	bin, requests := t.TempDir(), t.TempDir()
	for _, g := range generators {
		must.NoError(t, os.Symlink(program, filepath.Join(bin, g.local)))
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv(recordEnv, requests)
	return requests
}

func requestsOf(t *testing.T, folder, generator string) []*pluginpb.CodeGeneratorRequest {
	t.Helper()
	paths := expect.Value(filepath.Glob(filepath.Join(folder, generator+".*")))(t)
	var requests []*pluginpb.CodeGeneratorRequest
	for _, path := range paths {
		encoded := expect.Value(os.ReadFile(path))(t)
		request := &pluginpb.CodeGeneratorRequest{}
		must.NoError(t, proto.Unmarshal(encoded, request))
		requests = append(requests, request)
	}
	return requests
}

//nolint:paralleltest // it changes the PATH
func TestRenew_RunsGeneratorsOfThePath(t *testing.T) {
	root, folder := repository(t), standIns(t)
	must.NoError(t, renew(t.Context(), root, io.Discard))

	for _, tc := range []struct {
		generator, parameter string
		files                []string
	}{
		{"protoc-gen-swift", "Visibility=Public",
			[]string{"berth/v1/session.proto", "google/rpc/error_details.proto", "google/type/date.proto"}},
		{"protoc-gen-connect-swift", "Visibility=Public,GenerateServiceMetadata=false",
			[]string{"berth/v1/session.proto", "google/rpc/error_details.proto"}},
	} {
		var files []string
		for _, request := range requestsOf(t, folder, tc.generator) {
			files = append(files, request.GetFileToGenerate()...)
			test.EqOp(t, tc.parameter, request.GetParameter(), test.Sprintf("%s got the parameter", tc.generator))
			for _, file := range request.GetProtoFile() {
				prefix := ""
				if strings.HasPrefix(file.GetName(), "berth/") {
					prefix = "Berth"
				}
				test.EqOp(t, prefix, file.GetOptions().GetSwiftPrefix(),
					test.Sprintf("%s got the prefix for %s, want", tc.generator, file.GetName()))
				test.False(t, strings.HasPrefix(file.GetName(), "buf/"),
					test.Sprintf("%s got the validation rules", tc.generator))
			}
		}
		slices.Sort(files)
		test.SliceEqOp(t, tc.files, files, test.Sprintf("%s was asked for", tc.generator))
	}

	var got []string
	tree := filepath.Join(root, generated)
	must.NoError(t, filepath.WalkDir(tree, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			got = append(got, strings.TrimPrefix(path, tree+"/"))
		}
		return err
	}))
	want := []string{
		"README.md", "berth/v1/session.connect.swift", "berth/v1/session.pb.swift", "digests.txt",
		"google/rpc/error_details.connect.swift", "google/rpc/error_details.pb.swift", "google/type/date.pb.swift",
	}
	test.SliceEqOp(t, want, got, test.Sprint("the folder"))
	left := expect.Value(os.ReadDir(filepath.Join(root, "bin")))(t)
	test.True(t, len(left) == 0, test.Sprintf("temporary files are left: %v", left))
}

//nolint:paralleltest // it changes the PATH
func TestCheck_ListsWhatChangedButNotComments(t *testing.T) {
	root, _ := repository(t), standIns(t)
	must.NoError(t, renew(t.Context(), root, io.Discard))
	write(t, root, "proto/berth/v1/session.proto", strings.Replace(sessionProto, "A class", "A class or a talk", 1))
	test.NoError(t, check(t.Context(), root, io.Discard), test.Sprint("a comment counts"))

	write(t, root, "proto/berth/v1/session.proto", strings.NewReplacer(
		"import \"google/type/date.proto\";\n", "", "google.type.Date date = 1;", "",
	).Replace(sessionProto))
	write(t, root, "proto/berth/v1/room.proto", "syntax = \"proto3\";\npackage berth.v1;\nmessage Room {}\n")
	err := check(t.Context(), root, io.Discard)
	must.Error(t, err, must.Sprint("check accepts old code"))
	for _, line := range []string{
		"berth/v1/room.proto (new)", "berth/v1/session.proto (changed)", "google/type/date.proto (deleted)",
	} {
		test.StrContains(t, err.Error(), "\n  "+line+"\n", test.Sprintf("%q does not list %s", err, line))
	}
	test.StrNotContains(t, err.Error(), "error_details", test.Sprintf("%q lists a file that has not changed", err))
}

func TestRenew_KeepsCodeIfAGeneratorFails(t *testing.T) {
	root, _ := repository(t), standIns(t)
	t.Setenv(recordEnv, filepath.Join(root, "missing"))
	must.Error(t, renew(t.Context(), root, io.Discard), must.Sprint("renew hides the error"))
	expect.OK(t)(os.Stat(filepath.Join(root, generated, "berth/v1/deleted.pb.swift")))
}

func TestRun_RejectsUnknownModes(t *testing.T) {
	t.Parallel()
	test.Error(t, run(t.Context(), []string{"renew"}, nil, &bytes.Buffer{}), test.Sprint("an unknown mode is accepted"))
}
