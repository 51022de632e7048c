import { useI18n } from "../../shared/i18n";

/** Languages in pickers. A picker adds the current value if it is not among them. */
export const offered = ["en", "de", "fr", "es", "it", "nl", "pt", "pl", "da", "sv", "cs", "tr"];

/** Names of languages, in the user's language. */
export function useLanguageName() {
  const { locale } = useI18n();
  const names = new Intl.DisplayNames(locale, { type: "language" });
  return (tag: string) => names.of(tag) ?? tag;
}

export function useLanguageNames(tags: readonly string[]) {
  const name = useLanguageName();
  return tags.map((value) => ({ value, label: name(value) }));
}
