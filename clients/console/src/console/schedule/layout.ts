/** A time span, in minutes of a day. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Placed {
  /** Index of its lane, from 0. */
  readonly lane: number;
  /** Number of lanes at its position. */
  readonly lanes: number;
}

/**
 * Places overlapping spans side by side. Spans that overlap, directly or through others, share the
 * width evenly; each takes the first free lane.
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

/** The hours to show: those of the spans, and at least the usual day. */
export function hoursOf(spans: readonly Span[], usual: Span = { from: 7, to: 21 }): Span {
  let { from, to } = usual;
  for (const span of spans) {
    from = Math.min(from, Math.floor(span.from / 60));
    to = Math.max(to, Math.ceil(span.to / 60));
  }
  return { from: Math.max(0, from), to: Math.min(24, to) };
}

/** Rounds to a step of minutes. */
export function snap(minute: number, step = 15): number {
  return Math.round(minute / step) * step;
}
