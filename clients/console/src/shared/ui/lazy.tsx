import { type ComponentType, lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { matchPath } from "react-router";
import { loadedTexts } from "../i18n";
import { whenOnline } from "../loading/online";
import { Loading } from "./query-result";

/**
 * A component whose script loads when it is first shown, or earlier. Then it shows at once: what
 * suspends, React may hold back for 300 ms.
 */
function script(load: () => Promise<ComponentType<object>>) {
  let loaded: ComponentType<object> | undefined;
  const start = async () => {
    loaded = await whenOnline(load);
    return { default: loaded };
  };
  const Lazy = lazy(start);
  return { start, first: () => loaded ?? Lazy, loaded: () => loaded !== undefined };
}

/** A page whose script loads when it is first shown. */
export function page<K extends string>(load: () => Promise<Record<K, () => ReactNode>>, name: K) {
  const { start, first, loaded } = script(async () => (await load())[name]);
  const Page = () => {
    const [Part] = useState(first);
    return <Part />;
  };
  return Object.assign(Page, { load: start, loaded });
}

export type Page = ReturnType<typeof page>;

/** Loads the page of the current URL, without waiting for the data that its frame needs. */
export async function preload(
  pages: readonly (readonly [pattern: string, page: ComponentType & Partial<Page>])[],
  base = "",
): Promise<void> {
  const path = location.pathname.slice(base.length) || "/";
  try {
    await pages.find(([pattern]) => matchPath(pattern, path))?.[1].load?.();
    await loadedTexts();
  } catch {
    // The page shows the error.
  }
}

/** How long after a page its other parts load, in ms, if they are not needed earlier. */
export const pause = 3000;

export const afterPage = () => new Promise<void>((resolve) => setTimeout(resolve, pause));

type Props<C> = C extends (props: infer P extends object) => ReactNode ? P : object;

/** A dialog looks for what gets the focus when it opens, which is before its script has loaded. */
function withFocus(Part: ComponentType<object>) {
  return function Focused(props: object) {
    useEffect(() => {
      document.querySelector<HTMLElement>("[role=dialog] [data-autofocus]")?.focus();
    }, []);
    return <Part {...props} />;
  };
}

interface LaterOptions<P> {
  /** A dialog is first shown when this prop is set. */
  opener?: keyof P;
  /** Shown while the script loads. */
  fallback?: ReactNode | ((props: P) => ReactNode);
}

/**
 * A part of a page that is shown later, such as a form in a drawer. Its script loads soon after the
 * page, to be there if the connection is lost.
 */
export function later<M extends Record<K, (props: never) => ReactNode>, K extends string>(
  load: () => Promise<M>,
  name: K,
  { opener, fallback = <Loading dialog={opener !== undefined} /> }: LaterOptions<Props<M[K]>> = {},
): ComponentType<Props<M[K]>> {
  const { start, first } = script(async () =>
    withFocus((await load())[name] as unknown as ComponentType<object>),
  );
  afterPage()
    .then(start)
    .catch(() => undefined);
  return function Later(props) {
    const [Part, setPart] = useState(() => (opener === undefined ? first() : undefined));
    if (!Part && opener && props[opener]) setPart(first);
    return (
      Part && (
        <Suspense fallback={typeof fallback === "function" ? fallback(props) : fallback}>
          <Part {...props} />
        </Suspense>
      )
    );
  };
}
