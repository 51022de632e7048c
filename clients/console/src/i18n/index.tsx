import { createContext, type ReactNode, use, useEffect, useMemo, useState } from "react";
import { en } from "./en";

/**
 * The texts of the apps. Texts with values are functions, so that each language has its own
 * grammar.
 */
export type Messages = typeof en;

export const languages = { en: "English", de: "Deutsch", fr: "Français" } as const;
export type Language = keyof typeof languages;

const load: Record<Language, () => Promise<Messages>> = {
  en: async () => en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
};

const storageKey = "berth.language";

const isLanguage = (tag: string): tag is Language => tag in languages;

/** The first preferred language that is supported. */
export function choose(preferred: readonly string[]): Language {
  return preferred.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ?? "en";
}

interface I18n {
  readonly t: Messages;
  /** For dates and numbers: the user's region if it matches the language. */
  readonly locale: string;
  readonly language: Language;
  readonly setLanguage: (language: Language) => void;
}

const I18nContext = createContext<I18n>({
  t: en,
  locale: "en-GB",
  language: "en",
  setLanguage: () => undefined,
});

export const useI18n = (): I18n => use(I18nContext);
export const useText = (): Messages => use(I18nContext).t;

const regional = (language: Language): string =>
  navigator.languages.find((tag) => tag.startsWith(`${language}-`)) ??
  { en: "en-GB", de: "de-DE", fr: "fr-FR" }[language];

export function I18nProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(() =>
    choose([localStorage.getItem(storageKey) ?? "", ...navigator.languages]),
  );
  const [t, setText] = useState<Messages>();
  useEffect(() => {
    let current = true;
    load[language]().then((loaded) => {
      if (!current) return;
      document.documentElement.lang = language;
      setText(loaded);
    });
    return () => {
      current = false;
    };
  }, [language]);
  const speech = useMemo(
    () =>
      t && {
        t,
        language,
        locale: regional(language),
        setLanguage: (next: Language) => {
          localStorage.setItem(storageKey, next);
          setLanguage(next);
        },
      },
    [t, language],
  );
  return speech && <I18nContext value={speech}>{children}</I18nContext>;
}
