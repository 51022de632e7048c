/** Something that takes time, in minutes of a day. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Placed {
  /** Which of the lanes beside each other, from 0. */
  readonly lane: number;
  /** How many lanes there are where it stands. */
  readonly lanes: number;
}

/**
 * Puts what overlaps side by side. Spans that touch each other, directly or through others, share the
 * width evenly; each stands in the first lane that is free.
 */
export function place(spans: readonly Span[]): Placed[] {
  const order = spans
    .map((span, index) => ({ ...span, index }))
    .sort((a, b) => a.from - b.from || b.to - a.to || a.index - b.index);
  const placed: Placed[] = new Array(spans.length);
  let group: { index: number; lane: number }[] = [];
  let ends: number[] = [];
  const close = () => {
    for (const { index, lane } of group) placed[index] = { lane, lanes: ends.length };
    group = [];
    ends = [];
  };
  for (const { from, to, index } of order) {
    if (ends.length > 0 && ends.every((end) => end <= from)) close();
    let lane = ends.findIndex((end) => end <= from);
    if (lane < 0) lane = ends.length;
    ends[lane] = to;
    group.push({ index, lane });
  }
  close();
  return placed;
}

/** The hours that are worth showing: those of the spans, and at least the usual day. */
export function hoursOf(spans: readonly Span[], usual: Span = { from: 7, to: 21 }): Span {
  let { from, to } = usual;
  for (const span of spans) {
    from = Math.min(from, Math.floor(span.from / 60));
    to = Math.max(to, Math.ceil(span.to / 60));
  }
  return { from: Math.max(0, from), to: Math.min(24, to) };
}

/** A minute on the grid of so many minutes. */
export function snap(minute: number, step = 15): number {
  return Math.round(minute / step) * step;
}
