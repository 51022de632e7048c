import {
  createContext,
  type ReactNode,
  startTransition,
  use,
  useEffect,
  useMemo,
  useState,
} from "react";
import { whenOnline } from "../loading/online";
import {
  active,
  addTexts,
  type Language,
  type Loaded,
  type Loaders,
  loadTexts,
  storageKey,
  type Texts,
} from "./load";

export { type Language, languages, type Texts } from "./load";

interface I18n<T> {
  readonly t: T;
  /** For dates and numbers: the user's region if it matches the language. */
  readonly locale: string;
  readonly language: Language;
  readonly setLanguage: (language: Language) => Promise<void>;
}

const I18nContext = createContext<I18n<Texts> | null>(null);

/** The texts of a part of an app: those in its folder `texts`. */
export interface Part<T> {
  /** Loads them, unless they load first. */
  readonly load?: (language: Language) => Promise<T>;
}

/** The texts of parts of an app, with those that both apps load first. */
type TextsOf<P> = P extends readonly [Part<infer T>, ...infer Others] ? T & TextsOf<Others> : Texts;

/** The texts of parts of an app, which the component waits for, and the user's language. */
export function useI18n<P extends readonly Part<object>[]>(...parts: P): I18n<TextsOf<P>> {
  const i18n = use(I18nContext);
  if (!i18n) throw new Error("used outside of its provider");
  for (const { load } of parts) if (load) use(load(i18n.language));
  return i18n as I18n<TextsOf<P>>;
}

export const useText = <P extends readonly Part<object>[]>(...parts: P): TextsOf<P> =>
  useI18n(...parts).t;

/** Texts that load first. */
export const firstTexts = <T,>(): Part<T> => ({});

const early: Promise<unknown>[] = [];

/** Resolves when the texts of all pages whose scripts have loaded are there, too. */
export const loadedTexts = (): Promise<unknown> => Promise.all(early);

/**
 * Texts that only some pages show. They load with the first of these pages, which waits for them,
 * to keep the first load of both apps small.
 */
export function pageTexts<T extends object>(loaders: Loaders<T>): Part<T> {
  const loads = new Map<Language, Promise<T>>();
  const load = (language: Language): Promise<T> => {
    const known = loads.get(language);
    if (known) return known;
    const loading = whenOnline(loaders[language]);
    loads.set(language, loading);
    loading.then(
      (value) => {
        addTexts(language, value);
        Object.assign(loading, { status: "fulfilled", value }); // React need not wait
      },
      () => loads.delete(language), // the next page tries again
    );
    return loading;
  };
  const language = active();
  if (language) early.push(load(language)); // before the page renders
  return { load };
}

const regional = (language: Language): string =>
  navigator.languages.find((tag) => tag.startsWith(`${language}-`)) ??
  { en: "en-GB", de: "de-DE", fr: "fr-FR" }[language];

export function I18nProvider({ first, children }: { first: Loaded; children: ReactNode }) {
  const [{ language, t }, setLoaded] = useState(first);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const speech = useMemo(
    () => ({
      t,
      language,
      locale: regional(language),
      setLanguage: async (next: Language) => {
        localStorage.setItem(storageKey, next);
        const loaded = await loadTexts(next);
        // The page stays until its own texts are loaded, too.
        if (active() === next) startTransition(() => setLoaded(loaded));
      },
    }),
    [t, language],
  );
  return <I18nContext value={speech}>{children}</I18nContext>;
}
