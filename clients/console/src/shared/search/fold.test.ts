import { describe, expect, test } from "vitest";
import texts from "../../../../../internal/fold/testdata/folded.json";
import { contains, fold } from "./fold";

describe("fold", () => {
  test.each(Object.entries(texts))("is %j for all that reads the same", (want, all) => {
    expect(all).not.toEqual([]);
    for (const text of all) {
      expect(fold(text), JSON.stringify(text)).toBe(want.normalize("NFC"));
      expect(fold(text.normalize("NFD"))).toBe(want.normalize("NFC"));
      expect(fold(fold(text))).toBe(fold(text));
    }
  });

  test("finds a part of a text, however it is written", () => {
    expect(contains("Salle Étoile", "etoile")).toBe(true);
    expect(contains("Salle Etoile", "ÉTO")).toBe(true);
    expect(contains("Große Halle", "GROSSE ")).toBe(true);
    expect(contains("Søren", "soren")).toBe(true);
    expect(contains("anything", " ")).toBe(true);
    expect(contains("Salle Étoile", "étoiles")).toBe(false);
  });
});
