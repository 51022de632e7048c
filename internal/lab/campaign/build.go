package campaign

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// BuildServer builds the berth command as it is shipped, into a folder, and returns the path of the binary. It works
// inside the source tree only: the go command looks for the module from the working directory upwards.
func BuildServer(ctx context.Context, folder string) (string, error) {
	binary := filepath.Join(folder, "berth")
	out, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w",
		"-o", binary, "github.com/berthhq/berth/server").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the berth command: %w\n%s", err, out)
	}
	return binary, nil
}
