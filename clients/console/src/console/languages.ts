import { useSpeech } from "../i18n";

/** Languages that pickers offer; more stand in them where one is in use. */
export const offered = ["en", "de", "fr", "es", "it", "nl", "pt", "pl", "da", "sv", "cs", "tr"];

/** What languages are called in the reader's. */
export function useLanguageName() {
  const { locale } = useSpeech();
  const names = new Intl.DisplayNames(locale, { type: "language" });
  return (tag: string) => names.of(tag) ?? tag;
}

export function useLanguageNames(tags: readonly string[]) {
  const name = useLanguageName();
  return tags.map((value) => ({ value, label: name(value) }));
}
