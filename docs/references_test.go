// Package docs_test checks that what the manuals name exists.
package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

const root = ".."

var (
	fenced   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	quoted   = regexp.MustCompile("`([^`\n]+)`")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)[A-Z]\w*$`)
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w+)\(`)
	target   = regexp.MustCompile(`(?m)^([a-z-]+(?: [a-z-]+)*):[^=]`)
)

// later are files that do not exist yet: a release writes them.
var later = []string{"migrations/released.txt"}

func TestManuals_NameFilesThatExist(t *testing.T) {
	t.Parallel()
	for page, text := range readManuals(t) {
		for _, match := range quoted.FindAllStringSubmatch(text, -1) {
			name := strings.TrimPrefix(strings.TrimSuffix(match[1], "/"), "./")
			first, _, inside := strings.Cut(name, "/")
			if !inside || first == "" || strings.ContainsAny(name, " :@…") || slices.Contains(later, name) {
				continue
			}
			var places []string // where the first folder of the path is
			for _, place := range []string{root, filepath.Join(root, "internal")} {
				if first != "bin" && isFolder(filepath.Join(place, first)) {
					places = append(places, place)
				}
			}
			test.True(t, len(places) == 0 || slices.ContainsFunc(places, func(place string) bool {
				return exists(t, filepath.Join(place, name))
			}), test.Sprintf("%s: there is no %s", page, name))
		}
	}
}

func TestWords_NameFoldersThatExist(t *testing.T) {
	t.Parallel()
	for row := range strings.Lines(readManuals(t)["docs/words.md"]) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), " | ")
		for _, match := range quoted.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			test.True(t, len(cells) < 3 || exists(t, filepath.Join(root, "internal", match[1])) ||
				exists(t, filepath.Join(root, match[1])), test.Sprintf("docs/words.md: there is no %s", match[1]))
		}
	}
}

func TestManuals_LinkToWhatExists(t *testing.T) {
	t.Parallel()
	manuals := readManuals(t)
	for page, text := range manuals {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			to, anchor, _ := strings.Cut(match[1], "#")
			to = path.Join(path.Dir(page), to)
			if strings.HasPrefix(match[1], "#") {
				to = page
			}
			test.True(t, exists(t, filepath.Join(root, to)), test.Sprintf("%s links to %s", page, match[1]))
			test.True(t, anchor == "" || slices.Contains(anchors(manuals[to]), anchor), test.Sprintf(
				"%s links to %s, which has no such heading", page, match[1],
			))
		}
	}
}

func TestManuals_NameTestsThatExist(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{}
	walk(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			for _, match := range testFunc.FindAllStringSubmatch(read(t, file), -1) {
				tests[match[1]] = true
			}
		}
	})
	for page, text := range readManuals(t) {
		for _, match := range quoted.FindAllStringSubmatch(text, -1) {
			test.True(t, !testName.MatchString(match[1]) || tests[match[1]], test.Sprintf(
				"%s: there is no test %s", page, match[1],
			))
		}
	}
}

func TestManuals_NameTargetsOfMakeThatExist(t *testing.T) {
	t.Parallel()
	targets := map[string]bool{}
	for _, match := range target.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		for name := range strings.FieldsSeq(match[1]) {
			targets[name] = true
		}
	}
	for page, text := range readManuals(t) {
		for _, match := range quoted.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(match[1])
			for _, word := range words[1:] {
				if words[0] != "make" || strings.Contains(word, "=") {
					break
				}
				test.True(t, targets[word], test.Sprintf("%s: there is no `make %s`", page, word))
			}
		}
	}
}

// readManuals gives the pages for people by their paths, without the blocks of code in them.
func readManuals(t *testing.T) map[string]string {
	t.Helper()
	manuals := map[string]string{}
	walk(t, func(file string) {
		if strings.HasSuffix(file, ".md") {
			manuals[file] = fenced.ReplaceAllString(read(t, file), "")
		}
	})
	must.MapContainsKeys(t, manuals, []string{"README.md", "CONTRIBUTING.md", "docs/words.md"})
	return manuals
}

// anchors gives the names of a page's headings in links, as browsers of repositories make them.
func anchors(page string) (all []string) {
	dropped := regexp.MustCompile(`[^a-z0-9 _-]`)
	for _, match := range heading.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-"))
	}
	return all
}

// walk visits the files that are not built, generated or brought in.
func walk(t *testing.T, visit func(file string)) {
	t.Helper()
	must.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != root && name != ".github" &&
			(strings.HasPrefix(name, ".") || slices.Contains([]string{
				"node_modules", "third_party", "bin", "dist", "Generated", "testdata", "test-results",
			}, name)):
			return fs.SkipDir
		case !entry.IsDir():
			visit(strings.TrimPrefix(filepath.ToSlash(file), root+"/"))
		}
		return nil
	}))
}

func read(t *testing.T, file string) string {
	t.Helper()
	return string(expect.Value(os.ReadFile(filepath.Join(root, file)))(t))
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

var (
	braces      = regexp.MustCompile(`\{([^}]*)\}`)
	placeholder = regexp.MustCompile(`<[^>]*>`)
)

// exists reports whether there is a file or folder of the name, which may have stars, <placeholders> and alternatives
// in braces, each of which must exist.
func exists(t *testing.T, name string) bool {
	t.Helper()
	if choice := braces.FindStringSubmatchIndex(name); choice != nil {
		for part := range strings.SplitSeq(name[choice[2]:choice[3]], ",") {
			if !exists(t, name[:choice[0]]+part+name[choice[1]:]) {
				return false
			}
		}
		return true
	}
	return len(expect.Value(filepath.Glob(placeholder.ReplaceAllString(name, "*")))(t)) > 0
}
