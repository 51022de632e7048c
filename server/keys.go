package main

import (
	"context"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/secret"
)

// keysCommand has the commands that rotate secrets in files. Running nodes notice changes of the files.
type keysCommand struct {
	New   newKeysCommand   `cmd:"" help:"Make the files of the three secrets, before the first start."`
	List  listKeysCommand  `cmd:"" help:"List the versions of a secret, and which is in use."`
	Add   addKeyCommand    `cmd:"" help:"Add a version that is used from a later time on."`
	Prune pruneKeysCommand `cmd:"" help:"Remove the versions that are no longer needed."`
}

// newKeysCommand makes the files that are missing. It changes none that is there.
type newKeysCommand struct {
	boot.KeyConfig `embed:""`
}

// Run implements kong's command. It prints the path of each file that it made.
func (c *newKeysCommand) Run(_ context.Context, to *cli.Console) error {
	made, err := c.Files().Create()
	for _, path := range made {
		fmt.Fprintln(to.Out, path)
	}
	if err == nil && len(made) == 0 {
		fmt.Fprintln(to.Err, "the files are there already")
	}
	return err
}

type keyPurpose struct {
	boot.KeyConfig `embed:""`

	Purpose secret.Purpose `arg:"" enum:"signing,check-in,messages" help:"Which secret: signing, check-in or messages."`
}

// listKeysCommand prints no secrets.
type listKeysCommand struct {
	keyPurpose `embed:""`
}

// Run implements kong's command.
func (c *listKeysCommand) Run(ctx context.Context, to *cli.Console) error {
	files := c.Files()
	begins, err := files.Begins(ctx, c.Purpose)
	if err != nil {
		return err
	}
	inUse := secret.InUse(begins, time.Now())
	for i, from := range begins {
		state := "before"
		switch {
		case i == inUse:
			state = "in use"
		case from.After(time.Now()):
			state = "next"
		}
		begin := "the beginning"
		if !from.IsZero() {
			begin = from.Format(time.RFC3339)
		}
		fmt.Fprintf(to.Out, "%d\t%s\tfrom %s\n", i+1, state, begin)
	}
	return nil
}

// addKeyCommand adds a version.
type addKeyCommand struct {
	keyPurpose `embed:""`

	In time.Duration `default:"1h" help:"When the version is first used, counted from now. By then all nodes must have the file. At least ten minutes."`
}

// Run implements kong's command. It prints only the time, for scripts.
func (c *addKeyCommand) Run(ctx context.Context, to *cli.Console) error {
	if c.In < secret.PublishTime {
		return fmt.Errorf("--in must be at least %s: all nodes have to know the version before it is used",
			secret.PublishTime)
	}
	files := c.Files()
	from := time.Now().Add(c.In).UTC().Truncate(time.Second)
	if err := files.Add(ctx, c.Purpose, from); err != nil {
		return err
	}
	_, err := fmt.Fprintln(to.Out, from.Format(time.RFC3339))
	return err
}

// pruneKeysCommand removes versions.
type pruneKeysCommand struct {
	keyPurpose `embed:""`

	After time.Duration `default:"24h" help:"For how long a newer version must have been in use. Tokens of removed keys end: those of service accounts live for 15 minutes, others as long as berth token says."`
}

// Run implements kong's command. It prints only the number, for scripts.
func (c *pruneKeysCommand) Run(ctx context.Context, to *cli.Console) error {
	files := c.Files()
	removed, err := files.Prune(ctx, c.Purpose, time.Now().Add(-c.After))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(to.Out, removed)
	return err
}
