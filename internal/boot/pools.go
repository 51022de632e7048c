package boot

import (
	"cmp"
	"fmt"
	"runtime"
)

// PoolConfig configures how many connections to the database a node has. Zero means the default.
type PoolConfig struct {
	Commands int `name:"db-commands" env:"BERTH_DB_COMMANDS" help:"How many connections to the database a node has for transactions. Default: eight for each processor, 16 to 32."`
	Reads    int `name:"db-reads" env:"BERTH_DB_READS" help:"How many connections to the database a node has for reads. Default: four for each processor, 8 to 16."`
}

const (
	minCommands, maxPool = 4, 1000
	// notifyConns are the connections that a node has besides its pools: three that listen, and one that notifies.
	notifyConns = 4
	// transactConns are left to transactions that are not about seats.
	transactConns = 4
)

// Sizes returns the sizes of the two pools, or an error about a setting that cannot be used.
func (c PoolConfig) Sizes() (commands, reads int, err error) {
	processors := runtime.GOMAXPROCS(0)
	commands = cmp.Or(c.Commands, min(max(16, 8*processors), 32))
	reads = cmp.Or(c.Reads, min(max(8, 4*processors), 16))
	if commands < minCommands || commands > maxPool {
		return 0, 0, fmt.Errorf("BERTH_DB_COMMANDS is %d; it must be from %d to %d", commands, minCommands, maxPool)
	}
	if reads < 1 || reads > maxPool {
		return 0, 0, fmt.Errorf("BERTH_DB_READS is %d; it must be from 1 to %d", reads, maxPool)
	}
	return commands, reads, nil
}

// Connections returns how many connections a number of nodes need.
func (c PoolConfig) Connections(nodes int) (int, error) {
	commands, reads, err := c.Sizes()
	return nodes * (commands + reads + notifyConns), err
}

// checkShares returns an error if a tenant's share of a node is more than the node has.
func (c ListenConfig) checkShares(commands, reads int) error {
	if c.Concurrency < 0 || c.Concurrency > commands {
		return fmt.Errorf("BERTH_CONCURRENCY is %d; it must be from 1 to %d, the node's connections for transactions "+
			"(BERTH_DB_COMMANDS)", c.Concurrency, commands)
	}
	if c.Traffic.Reads < 0 || c.Traffic.Reads > reads {
		return fmt.Errorf("BERTH_READS is %d; it must be from 1 to %d, the node's connections for reads "+
			"(BERTH_DB_READS)", c.Traffic.Reads, reads)
	}
	return nil
}
