import { expect, it } from "vitest";
import { amountOf, moneyOf, showMoney } from "./money";

const money = (amount: number) => ({
  $typeName: "google.type.Money" as const,
  ...moneyOf(amount, "EUR"),
});

it.each([0, 0.01, 0.29, 1.1, 19.99, 35, 1234.56])("round-trips %d to the cent", (amount) => {
  expect(amountOf(money(amount))).toBeCloseTo(amount, 9);
});

it("splits amounts into units and nanos", () => {
  expect(moneyOf(4.35, "EUR")).toEqual({ currencyCode: "EUR", units: 4n, nanos: 350_000_000 });
});

it("formats amounts in the user's locale", () => {
  expect(showMoney(money(12.5), "en-GB")).toBe("€12.50");
  expect(showMoney(undefined, "en-GB")).toBe("");
});
