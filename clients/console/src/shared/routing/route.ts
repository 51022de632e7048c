import { useCallback } from "react";
import { useParams, useSearchParams } from "react-router";

/** How a search parameter is read from a URL and written to it. */
interface Parameter<T> {
  readonly read: (values: readonly string[]) => T;
  /** The default value is not written, so that URLs stay short. */
  readonly write: (value: T) => readonly string[];
}

export const text = (absent = ""): Parameter<string> => ({
  read: ([value]) => value || absent,
  write: (value) => (value && value !== absent ? [value] : []),
});

export const number = (absent = 0): Parameter<number> => ({
  read: ([value]) => Number(value) || absent,
  write: (value) => (value && value !== absent ? [String(value)] : []),
});

/** One of several options. The first is the default. */
export const oneOf = <T extends string>(first: T, ...others: T[]): Parameter<T> => ({
  read: ([value]) => others.find((option) => option === value) ?? first,
  write: (value) => (value === first ? [] : [value]),
});

/** A parameter that may be repeated. */
export const list: Parameter<readonly string[]> = {
  read: (values) => values,
  write: (values) => values,
};

// biome-ignore lint/suspicious/noExplicitAny: parameters of different types in one schema
export type Schema = Readonly<Record<string, Parameter<any>>>;
type Values<S extends Schema> = { readonly [K in keyof S]: ReturnType<S[K]["read"]> };
/** Parameters to change. undefined is the default value. */
type Part<S extends Schema> = { readonly [K in keyof S]?: Values<S>[K] | undefined };

/** The names in a pattern: "session" in "/checkin/:session". */
type Names<P extends string> = P extends `${infer A}/${infer B}`
  ? Names<A> | Names<B>
  : P extends `:${infer Name}`
    ? Name
    : never;
type Named<P extends string> = Readonly<Record<Names<P>, string>>;

function write<S extends Schema>(params: URLSearchParams, schema: S, part: Part<S>): void {
  for (const name in part) {
    params.delete(name);
    const value = part[name];
    if (value === undefined) continue;
    for (const each of schema[name]?.write(value) ?? []) params.append(name, each);
  }
}

/** The page's state in its URL, so that it can be shared and survives a reload. */
export function useSearch<S extends Schema>(schema: S) {
  const [params, setParams] = useSearchParams();
  const values = Object.fromEntries(
    Object.entries(schema).map(([name, { read }]) => [name, read(params.getAll(name))]),
  ) as Values<S>;
  const change = useCallback(
    (part: Part<S>) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          write(next, schema, part);
          return next;
        },
        { replace: true },
      ),
    [setParams, schema],
  );
  return [values, change] as const;
}

/**
 * A page's URL: its pattern, and the search parameters that the page reads.
 *
 *     const session = route("/sessions/:session", { tab: text() });
 *     <Route path={session.pattern} element={<SessionPage />} />
 *     <Link to={session.path({ session: id, tab: "waitlist" })} />
 *     const { session: id } = session.useParams();
 *     const [{ tab }, change] = session.useSearch();
 */
export function route<const P extends string, S extends Schema = Record<never, never>>(
  pattern: P,
  schema: S = {} as S,
) {
  type Target = Named<P> & Part<S>;
  return {
    pattern,
    path: (...[target]: [Names<P>] extends [never] ? [target?: Target] : [target: Target]) => {
      const values = { ...target } as Record<string, unknown>;
      const path = pattern.replace(/:(\w+)/g, (_, name: string) => {
        const value = String(values[name]);
        delete values[name];
        return encodeURIComponent(value);
      });
      const search = new URLSearchParams();
      write(search, schema, values as Part<S>);
      return search.size > 0 ? `${path}?${search}` : path;
    },
    useParams: () => useParams() as unknown as Named<P>,
    useSearch: () => useSearch(schema),
  };
}
