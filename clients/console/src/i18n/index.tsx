import { createContext, type ReactNode, use, useEffect, useMemo, useState } from "react";
import { en } from "./en";

/** Every text of the apps. Texts with facts in them are functions, so each language has its own grammar. */
export type Messages = typeof en;

export const languages = { en: "English", de: "Deutsch", fr: "Français" } as const;
export type Language = keyof typeof languages;

const load: Record<Language, () => Promise<Messages>> = {
  en: async () => en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
};

const remembered = "berth.language";

const isLanguage = (tag: string): tag is Language => tag in languages;

/** The first of the wanted languages that there is. */
export function choose(wanted: readonly string[]): Language {
  return wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ?? "en";
}

interface Speech {
  readonly t: Messages;
  /** For dates and numbers: the reader's region where it fits the language. */
  readonly locale: string;
  readonly language: Language;
  readonly speak: (language: Language) => void;
}

const SpeechContext = createContext<Speech>({
  t: en,
  locale: "en-GB",
  language: "en",
  speak: () => undefined,
});

export const useSpeech = (): Speech => use(SpeechContext);
export const useText = (): Messages => use(SpeechContext).t;

const regional = (language: Language): string =>
  navigator.languages.find((tag) => tag.startsWith(`${language}-`)) ??
  { en: "en-GB", de: "de-DE", fr: "fr-FR" }[language];

export function Speaking({ children }: { children: ReactNode }) {
  const [language, speak] = useState<Language>(() =>
    choose([localStorage.getItem(remembered) ?? "", ...navigator.languages]),
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
        speak: (next: Language) => {
          localStorage.setItem(remembered, next);
          speak(next);
        },
      },
    [t, language],
  );
  return speech && <SpeechContext value={speech}>{children}</SpeechContext>;
}
