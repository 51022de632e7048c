import { useI18n } from "../i18n";

/** Formats percentages and counts in the user's locale. */
export function useNumbers() {
  const { locale } = useI18n();
  const percents = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
  const means = new Intl.NumberFormat(locale, {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
  const counts = new Intl.NumberFormat(locale);
  return {
    /** A fraction of 1; undefined if unknown. */
    percent: (share: number | undefined) => (share === undefined ? "–" : percents.format(share)),
    /** With one decimal. */
    mean: (n: number) => means.format(n),
    count: (n: number | bigint) => counts.format(n),
  };
}
