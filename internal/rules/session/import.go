package session

import "github.com/berthhq/berth/internal/csvfile"

// ImportProblem is one thing wrong with a row of an imported file.
type ImportProblem = csvfile.Problem
