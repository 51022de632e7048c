import type { en as consoleTexts } from "./console/en";
import type { en } from "./en";

/**
 * The texts of the apps. Texts with values are functions, so that each language has its own
 * grammar.
 */
export type Messages = typeof en & ConsoleTexts;

/** Texts that only the console loads. */
type ConsoleTexts = typeof consoleTexts;

export const languages = { en: "English", de: "Deutsch", fr: "Français" } as const;
export type Language = keyof typeof languages;

export type Loaders<T> = Readonly<Record<Language, () => Promise<T>>>;

const load: Loaders<typeof en> = {
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
};

export const storageKey = "berth.language";

const isLanguage = (tag: string): tag is Language => tag in languages;

/** The first preferred language that is supported. */
export function choose(preferred: readonly string[]): Language {
  return preferred.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ?? "en";
}

/** The language that was chosen last. */
let chosen: Language | undefined;

export const active = (): Language | undefined => chosen;

export interface Loaded {
  readonly language: Language;
  readonly t: Messages;
}

let loadMore: Loaders<ConsoleTexts> | undefined;

/** Adds the texts that only the console needs, before the first are loaded. */
export function addTexts(loaders: Loaders<ConsoleTexts>): void {
  loadMore = loaders;
}

/** Loads the texts of a language: by default the one that the user has chosen or prefers. */
export async function loadTexts(
  language = choose([localStorage.getItem(storageKey) ?? "", ...navigator.languages]),
): Promise<Loaded> {
  chosen = language;
  // The first format takes 50 ms on a slow phone. It is made while the scripts load.
  setTimeout(() =>
    new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long" }).format(),
  );
  const [base, more] = await Promise.all([load[language](), loadMore?.[language]()]);
  return { language, t: { ...base, ...more } as Messages };
}
