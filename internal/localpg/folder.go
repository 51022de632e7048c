package localpg

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// serverUser returns the user to run the server as if this process runs as root, else nil.
func serverUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("root cannot run Postgres, and there is no user postgres or nobody to run it: " +
		"start Berth as another user, or set DATABASE_URL")
}

// accessibleDir creates the folder and returns it. If the server's user cannot access it, such as below /root,
// it creates and returns a folder in /var/tmp instead.
func accessibleDir(dataDir string, credential *syscall.Credential) (string, error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if credential == nil || canAccess(dir, credential) {
		return dir, nil
	}
	sum := sha256.Sum256([]byte(dir))
	dir = fmt.Sprintf("/var/tmp/berth-%x", sum[:6])
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	// Everyone can write to /var/tmp, so an attacker may have created a folder of that name.
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(owner.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s belongs to someone else: remove it or choose another data folder", dir)
	}
	return dir, os.Chmod(dir, 0o755) // the server's user needs access, whatever the umask
}

func canAccess(dir string, credential *syscall.Credential) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		mode, owner := info.Mode().Perm(), info.Sys().(*syscall.Stat_t)
		switch {
		case owner.Uid == credential.Uid && mode&0o100 != 0:
		case owner.Uid != credential.Uid && owner.Gid == credential.Gid && mode&0o010 != 0:
		case owner.Uid != credential.Uid && owner.Gid != credential.Gid && mode&0o001 != 0:
		default:
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

// lockFolder keeps other Berth processes off the folder, until it is unlocked or the process ends.
func lockFolder(dir string) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("another Berth is using %s: stop it or choose another data folder", dir)
	}
	return func() {
		// Closing is not enough: a program that another goroutine is starting has a copy of the open file for a moment.
		_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN) // if it fails, closing unlocks it in a moment
		file.Close()
	}, nil
}
