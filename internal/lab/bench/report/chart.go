package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// series are the results of one sign, in order of their callers.
type series struct {
	mark
	results []*Result
}

// A panel is a plot in units of the page. Where there is one number of callers it has bars, otherwise lines.
type panel struct {
	Title         string
	Width, Height float64
	Left, Right   float64 // of the plot inside the panel
	Top, Bottom   float64
	Across, Up    []tick
	Lines         []curve
	Bars          []bar
	Limit         float64 // height of pgbench's line; 0: none
}

type tick struct {
	At    float64
	Label string
}

type curve struct {
	mark
	Path   string
	Points []dot
}

// dot is a median with its range.
type dot struct {
	X, Y, Low, High float64
	Tip             string
}

type bar struct {
	mark
	Y, Width, Low, High float64
	Label               string
	Tip                 string
}

const (
	panelWidth  = 380.0
	panelHeight = 260.0
	barHeight   = 26.0
)

func plot(title string, lines []series, value func(*Result) Spread, limit float64) panel {
	callers := make(map[int]bool)
	for _, s := range lines {
		for _, one := range s.results {
			callers[one.Callers] = true
		}
	}
	if len(callers) == 1 {
		return bars(title, lines, value)
	}
	p := panel{
		Title: title, Width: panelWidth, Height: panelHeight,
		Left: 52, Right: panelWidth - 14, Top: 14, Bottom: panelHeight - 38,
	}
	least, most := math.Inf(1), 0.0
	first, last := math.MaxInt, 0
	reach := func(v float64) {
		if v > 0 {
			least, most = min(least, v), max(most, v)
		}
	}
	for _, s := range lines {
		for _, one := range s.results {
			v := value(one)
			reach(v.Least)
			reach(v.Most)
			first, last = min(first, one.Callers), max(last, one.Callers)
		}
	}
	reach(limit)
	least, most = least/1.15, most*1.15
	x := func(n int) float64 {
		along := math.Log(float64(n)/float64(first)) / math.Log(float64(last)/float64(first))
		return p.Left + (p.Right-p.Left)*(0.04+0.92*along)
	}
	y := func(v float64) float64 {
		return p.Bottom - (p.Bottom-p.Top)*math.Log(max(v, least)/least)/math.Log(most/least)
	}
	for n := range callers {
		p.Across = append(p.Across, tick{x(n), Number(float64(n))})
	}
	slices.SortFunc(p.Across, func(a, b tick) int { return int(a.At - b.At) })
	for _, v := range logTicks(least, most) {
		p.Up = append(p.Up, tick{y(v), Number(v)})
	}
	for _, s := range lines {
		c := curve{mark: s.mark}
		var path strings.Builder
		for i, one := range s.results {
			v := value(one)
			d := dot{x(one.Callers), y(v.Median), y(v.Least), y(v.Most), tip(s.mark, one, v)}
			c.Points = append(c.Points, d)
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(i, 1)], d.X, d.Y)
		}
		c.Path = path.String()
		p.Lines = append(p.Lines, c)
	}
	if limit > 0 {
		p.Limit = y(limit)
	}
	return p
}

func tip(m mark, one *Result, v Spread) string {
	return fmt.Sprintf("%s, %s: %s (%s to %s)",
		m.Name, count(one.Callers, "caller"), Number(v.Median), Number(v.Least), Number(v.Most))
}

// logTicks are the round numbers in a range: 1, 2 and 5 times each power of ten, or only the powers in a long range.
func logTicks(least, most float64) (all []float64) {
	steps := []float64{1, 2, 5}
	if most/least > 300 {
		steps = steps[:1]
	}
	for power := math.Floor(math.Log10(least)); power <= math.Log10(most); power++ {
		for _, step := range steps {
			if v := step * math.Pow(10, power); v >= least && v <= most {
				all = append(all, v)
			}
		}
	}
	return all
}

func bars(title string, lines []series, value func(*Result) Spread) panel {
	p := panel{Title: title, Width: panelWidth, Left: 4, Right: panelWidth - 64, Top: 8}
	most := 0.0
	for _, s := range lines {
		for _, one := range s.results {
			most = max(most, value(one).Most)
		}
	}
	at := p.Top
	for _, s := range lines {
		for _, one := range s.results {
			v := value(one)
			scale := (p.Right - p.Left) / max(most, math.SmallestNonzeroFloat64)
			p.Bars = append(p.Bars, bar{
				s.mark, at, max(v.Median*scale, 1), p.Left + v.Least*scale, p.Left + v.Most*scale,
				Number(v.Median), tip(s.mark, one, v),
			})
			at += barHeight
		}
	}
	p.Bottom = at
	p.Height = at + 8
	return p
}
