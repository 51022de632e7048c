module github.com/berthhq/berth/tools/testlab

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/shoenig/test v1.13.2
	golang.org/x/sync v0.23.0
)

require github.com/google/go-cmp v0.7.0 // indirect
