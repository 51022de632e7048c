package pg

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

// unprivileged is whom the server runs as when this process is root's;
// otherwise nil: as itself.
func unprivileged() (*syscall.Credential, error) {
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
	return nil, errors.New("root may not run Postgres, and there is no user postgres or nobody to run it: start Berth as another user, or set DATABASE_URL")
}

// enterable makes the folder, or one that stands for it where the server's user
// can go, as it cannot below /root.
func enterable(dataDir string, credential *syscall.Credential) (string, error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if credential == nil || canEnter(dir, credential) {
		return dir, nil
	}
	sum := sha256.Sum256([]byte(dir))
	dir = fmt.Sprintf("/var/tmp/berth-%x", sum[:6])
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	// Everyone may write to /var/tmp, so the name may have been taken to lay a trap.
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(owner.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s belongs to someone else: remove it or choose another data folder", dir)
	}
	return dir, os.Chmod(dir, 0o755) // the server's user has to pass, whatever the umask
}

func canEnter(dir string, credential *syscall.Credential) bool {
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

// lockFolder keeps a second Berth off the folder. The lock ends with the process.
func lockFolder(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("another Berth is using %s: stop it or choose another data folder", dir)
	}
	return file, nil
}
