package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// audit asks the databases of vulnerabilities about all Go and npm packages, and prints what it finds. It returns the
// exit code: 0 if nothing is known, 1 if there are vulnerabilities, and 2 if a database could not be asked.
func audit(out io.Writer, run runner) int {
	unknown, found := false, false
	check := func(what string, vulnerable bool, report string, err error) {
		switch {
		case err != nil:
			fmt.Fprintf(out, "%s: not checked: %v\n", what, err)
			unknown = true
		case vulnerable:
			fmt.Fprintf(out, "%s: vulnerable\n%s\n", what, report)
			found = true
		default:
			fmt.Fprintf(out, "%s: nothing is known\n", what)
		}
	}
	vulnerable, report, err := auditGo(run)
	check("Go", vulnerable, report, err)
	for _, folder := range npmFolders {
		vulnerable, report, err := auditNPM(folder, run)
		check(folder, vulnerable, report, err)
	}
	switch {
	case found:
		return 1
	case unknown:
		return 2
	}
	return 0
}

// foundVulnerabilities is the exit code of govulncheck that says so.
const foundVulnerabilities = 3

// auditGo asks https://vuln.go.dev about the functions that Berth calls.
func auditGo(run runner) (vulnerable bool, report string, err error) {
	printed, err := run(".", "go", "tool", "-modfile=tools/go.mod", "govulncheck", "./...")
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return false, "", nil
	case failed && exit.ExitCode() == foundVulnerabilities:
		return true, string(printed), nil
	case failed:
		return false, "", errors.New(lastLine(exit.Stderr))
	}
	return false, "", err
}

// auditNPM asks the npm registry about the packages in a package-lock.json file. npm exits with 1 for vulnerabilities
// and for errors: only a report has a summary.
func auditNPM(folder string, run runner) (vulnerable bool, report string, err error) {
	printed, err := run(folder, "npm", "audit", "--json")
	var answer struct {
		Message  string `json:"message"`
		Metadata *struct {
			Vulnerabilities struct {
				Total int `json:"total"`
			} `json:"vulnerabilities"`
		} `json:"metadata"`
	}
	if decodeErr := json.Unmarshal(printed, &answer); decodeErr != nil {
		return false, "", errors.Join(err, fmt.Errorf("npm audit: %w", decodeErr))
	}
	if answer.Metadata == nil {
		return false, "", errors.New(answer.Message)
	}
	return answer.Metadata.Vulnerabilities.Total > 0, string(printed), nil
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
