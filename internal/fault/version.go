package fault

// CheckVersion rejects an edit of an entity that was edited since it was read.
func CheckVersion(expect *int, version int) error {
	if expect != nil && *expect != version {
		return ErrEdited
	}
	return nil
}

// ErrEdited says that something was edited since it was read.
var ErrEdited = New(Aborted, ETagMismatch,
	"Someone else has edited this. Read it again, then try again.").WithField("etag")
