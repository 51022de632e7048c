package mutate

import (
	"iter"
	"math/rand/v2"
)

// draw returns the mutants in an order that the seed decides. It draws the kind first: a kind weighs as much as it has
// mutants, but at most twice the mean, so that none dominates.
func draw(seed uint64, all []Mutant) iter.Seq[Mutant] {
	random := rand.New(rand.NewPCG(seed, 0))
	var kinds []Kind
	byKind := make(map[Kind][]Mutant)
	for _, m := range all {
		if byKind[m.Kind] == nil {
			kinds = append(kinds, m.Kind)
		}
		byKind[m.Kind] = append(byKind[m.Kind], m)
	}
	weights := make(map[Kind]int)
	for _, kind := range kinds {
		weights[kind] = max(1, min(len(byKind[kind]), 2*len(all)/len(kinds)))
		of := byKind[kind]
		random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	}
	return func(yield func(Mutant) bool) {
		for len(kinds) > 0 {
			sum := 0
			for _, kind := range kinds {
				sum += weights[kind]
			}
			at, i := random.IntN(sum), 0
			for at >= weights[kinds[i]] {
				at -= weights[kinds[i]]
				i++
			}
			of := byKind[kinds[i]]
			if !yield(of[0]) {
				return
			}
			if byKind[kinds[i]] = of[1:]; len(of) == 1 {
				kinds = append(kinds[:i], kinds[i+1:]...)
			}
		}
	}
}
