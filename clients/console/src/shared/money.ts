import type { Item } from "@berthhq/client";

type Money = NonNullable<Item["price"]>;

/** An amount as people type it. */
export function amountOf(money: Money | undefined): number | "" {
  return money ? Number(money.units) + money.nanos / 1e9 : "";
}

/** An amount as the contract has it, to the cent. */
export function moneyOf(amount: number, currencyCode: string) {
  const cents = Math.round(amount * 100);
  const units = Math.trunc(cents / 100);
  return { currencyCode, units: BigInt(units), nanos: (cents - units * 100) * 10_000_000 };
}

/** An amount as people write it; empty where there is none. */
export function showMoney(money: Money | undefined, locale: string): string {
  if (!money) return "";
  const format = new Intl.NumberFormat(locale, {
    style: "currency",
    currency: money.currencyCode || "EUR",
  });
  return format.format(Number(amountOf(money)));
}

/** What something costs; empty where it costs nothing. */
export const showPrice = (money: Money | undefined, locale: string): string =>
  amountOf(money) ? showMoney(money, locale) : "";
