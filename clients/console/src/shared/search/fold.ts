/*
 * Compares texts as people read and search them, as the package internal/fold of the server does:
 * without case, accents and what cannot be seen. internal/fold/testdata has texts that both fold.
 */

/** Letters without a decomposition, and marks in place of those on the keyboard. */
const alike: Readonly<Record<string, string>> = {
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  ħ: "h",
  ŧ: "t",
  ı: "i",
  æ: "ae",
  œ: "oe",
  þ: "th",
  ς: "σ", // toLowerCase writes it at the end of words, folding never does
  "‘": "'",
  "’": "'",
  ʼ: "'",
  "`": "'",
  "‐": "-",
  "‑": "-",
  "‒": "-",
  "–": "-",
  "−": "-",
};

const likeOthers = new RegExp(`[${Object.keys(alike).join("")}]`, "gu");

/** The accents of Latin, Greek and Cyrillic letters, and characters that cannot be seen. */
const left = /[\u0300-\u036f]|\p{Cf}/gu;

/** Returns the form in which a text is compared. Two spellings of one text have the same. */
export function fold(text: string): string {
  // It would decompose into a space and an accent. Other characters are the same as it, canonically.
  const apart = text.normalize("NFC").replaceAll("´", "'").normalize("NFKD");
  // There and back, because only capitals tell that two small letters are one: ß and ss.
  const small = apart.toLowerCase().toUpperCase().toLowerCase().normalize("NFKD");
  return small
    .replace(left, "")
    .replace(/[\p{White_Space}]+/gu, " ")
    .trim()
    .replace(likeOthers, (letter) => alike[letter] ?? letter)
    .normalize("NFC");
}

/** Whether a text contains what somebody searches. */
export const contains = (text: string, wanted: string): boolean =>
  fold(text).includes(fold(wanted));
