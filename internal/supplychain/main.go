// Command supplychain lists what Berth is built from, and looks for known vulnerabilities in it.
//
//	supplychain sbom BINARY    prints a CycloneDX list of the binary's Go modules and the browser apps' packages
//	supplychain audit          asks the databases of vulnerabilities of Go and npm
//
// Run it at the root of the repository.
package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
)

// npmFolders are the folders with a package-lock.json file. The first is that of the browser apps, which are in the
// binary.
var npmFolders = []string{"clients/console", "clients/typescript", "clients/swift/syntax"}

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "sbom":
		info, err := buildinfo.ReadFile(os.Args[2])
		if err == nil {
			err = writeSBOM(os.Stdout, info, run)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "supplychain:", err)
			os.Exit(1)
		}
	case len(os.Args) == 2 && os.Args[1] == "audit":
		os.Exit(audit(os.Stdout, run))
	default:
		fmt.Fprintln(os.Stderr, "usage: supplychain sbom BINARY | supplychain audit")
		os.Exit(2)
	}
}

// A runner runs a command in a folder and returns what it prints.
type runner func(folder, name string, args ...string) (stdout []byte, err error)

func run(folder, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(context.Background(), name, args...) //nolint:gosec // the commands of this package
	cmd.Dir = folder
	return cmd.Output()
}
