import type { en as reasons } from "../reasons/texts/en";
import type { en as shared } from "../texts/en";

/**
 * Texts that both apps load first. Texts with values are functions, so that each language has its
 * own grammar.
 */
export type Texts = typeof shared & typeof reasons;

export const languages = { en: "English", de: "Deutsch", fr: "Français" } as const;
export type Language = keyof typeof languages;

export type Loaders<T> = Readonly<Record<Language, () => Promise<T>>>;

export const storageKey = "berth.language";

const isLanguage = (tag: string): tag is Language => tag in languages;

/** The first preferred language that is supported. */
export function choose(preferred: readonly string[]): Language {
  return preferred.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ?? "en";
}

/** The language that was chosen last. */
let chosen: Language | undefined;

export const active = (): Language | undefined => chosen;

/** The texts of a language that have loaded, by section. */
const loaded: Record<Language, object> = { en: {}, de: {}, fr: {} };

/** Adds texts to those that have loaded. */
export const addTexts = (language: Language, texts: object): unknown =>
  Object.assign(loaded[language], texts);

export interface Loaded {
  readonly language: Language;
  readonly t: Texts;
}

/** Loads the first texts of the app in a language. */
let loadFirst: Loaders<Texts>;

/** Loads the first texts of an app, in the language that the user has chosen or prefers. */
export function startTexts(loaders: Loaders<Texts>): Promise<Loaded> {
  loadFirst = loaders;
  return loadTexts(choose([localStorage.getItem(storageKey) ?? "", ...navigator.languages]));
}

export async function loadTexts(language: Language): Promise<Loaded> {
  chosen = language;
  // The first format takes 50 ms on a slow phone. It is made while the scripts load.
  setTimeout(() =>
    new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long" }).format(),
  );
  addTexts(language, await loadFirst[language]());
  return { language, t: loaded[language] as Texts };
}
