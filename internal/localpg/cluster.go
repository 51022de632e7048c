package localpg

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// cluster is a Postgres data directory and how to run a server on it.
type cluster struct {
	dir, data, bin string
	credential     *syscall.Credential
	config         Config
}

// version returns the major version that created the cluster, or "" if there is none.
func (c *cluster) version() string {
	version, err := os.ReadFile(filepath.Join(c.data, "PG_VERSION"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(version))
}

// passwordFile holds the password of the cluster's superuser.
func (c *cluster) passwordFile() string { return filepath.Join(c.dir, "password") }

// initialize creates the cluster if there is none, and returns its password.
func (c *cluster) initialize(ctx context.Context) (password string, err error) {
	secret := c.passwordFile()
	if c.version() != "" {
		known, err := os.ReadFile(secret)
		return strings.TrimSpace(string(known)), err
	}
	c.config.Progress("creating a database cluster in " + c.data)
	password = rand.Text()
	if err := c.writeFile(secret, password+"\n"); err != nil {
		return "", err
	}
	// initdb works in another folder, which is renamed at the end,
	// so an interrupted initdb leaves nothing that looks like a cluster.
	newDir := c.data + ".new"
	if err := os.RemoveAll(newDir); err != nil {
		return "", err
	}
	if err := os.Mkdir(newDir, 0o700); err != nil {
		return "", err
	}
	if err := c.chown(newDir); err != nil {
		return "", err
	}
	auth := "scram-sha-256"
	if c.config.Fast {
		auth = "password" // SCRAM is slow by design, and tests open thousands of connections
	}
	args := []string{"--pgdata", newDir, "--username", superuser, "--pwfile", secret, "--auth", auth,
		"--encoding", "UTF8", "--lc-collate", "C", "--lc-ctype", "C.UTF-8", "--lc-messages", "C"}
	if runtime.GOOS == "darwin" {
		args[len(args)-3] = "en_US.UTF-8" // macOS has no C.UTF-8
	}
	if c.config.Fast {
		args = append(args, "--no-sync", "--wal-segsize", "1")
	}
	cmd := c.command("initdb", args...)
	if out, err := combinedOutput(ctx, cmd); err != nil {
		return "", fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return password, os.Rename(newDir, c.data)
}

// remove deletes the cluster if there is one. It renames it first,
// so an interrupted deletion leaves nothing that looks like a cluster.
func (c *cluster) remove() error {
	if _, err := os.Lstat(c.data); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(c.passwordFile()); err != nil || c.version() == "" {
		return fmt.Errorf("%s was not created by Berth: not removed", c.data)
	}
	c.config.Progress("removing the database cluster in " + c.data)
	old := c.data + ".old"
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(c.data, old); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

func (c *cluster) writeFile(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return c.chown(path)
}

func (c *cluster) chown(path string) error {
	if c.credential == nil {
		return nil
	}
	return os.Chown(path, int(c.credential.Uid), int(c.credential.Gid))
}
