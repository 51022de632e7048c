import {
  createContext,
  type ReactNode,
  startTransition,
  use,
  useEffect,
  useMemo,
  useState,
} from "react";
import { whenOnline } from "../shared/loading/online";
import {
  active,
  type Language,
  type Loaded,
  type Loaders,
  loadTexts,
  type Messages,
  storageKey,
} from "./load";

export { type Language, languages, type Messages } from "./load";

interface I18n {
  readonly t: Messages;
  /** For dates and numbers: the user's region if it matches the language. */
  readonly locale: string;
  readonly language: Language;
  readonly setLanguage: (language: Language) => Promise<void>;
}

const I18nContext = createContext<I18n | null>(null);

export function useI18n(): I18n {
  const i18n = use(I18nContext);
  if (!i18n) throw new Error("used outside of its provider");
  return i18n;
}

export const useText = (): Messages => useI18n().t;

const early: Promise<unknown>[] = [];

/** Resolves when the texts of all pages whose scripts have loaded are there, too. */
export const loadedTexts = (): Promise<unknown> => Promise.all(early);

/**
 * Texts that only some pages show. They load with the first of these pages, which waits for them,
 * to keep the first load of both apps small.
 */
export function pageTexts<T>(loaders: Loaders<T>): () => T {
  const loads = new Map<Language, Promise<T>>();
  const texts = (language: Language): Promise<T> => {
    const known = loads.get(language);
    if (known) return known;
    const loading = whenOnline(loaders[language]);
    loads.set(language, loading);
    loading.then(
      (value) => Object.assign(loading, { status: "fulfilled", value }), // React need not wait
      () => loads.delete(language), // the next page tries again
    );
    return loading;
  };
  const language = active();
  if (language) early.push(texts(language)); // before the page renders
  return () => use(texts(useI18n().language));
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
