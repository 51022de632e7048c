import type { Item } from "@berthhq/client";

type Money = NonNullable<Item["price"]>;

/** An amount for an input. */
export function amountOf(money: Money | undefined): number | "" {
  return money ? Number(money.units) + money.nanos / 1e9 : "";
}

/** An amount as the contract expects it, rounded to cents. */
export function moneyOf(amount: number, currencyCode: string) {
  const cents = Math.round(amount * 100);
  const units = Math.trunc(cents / 100);
  return { currencyCode, units: BigInt(units), nanos: (cents - units * 100) * 10_000_000 };
}

/** A formatted amount; "" if absent. */
export function showMoney(money: Money | undefined, locale: string): string {
  if (!money) return "";
  const format = new Intl.NumberFormat(locale, {
    style: "currency",
    currency: money.currencyCode || "EUR",
  });
  return format.format(Number(amountOf(money)));
}

/** A formatted price; "" if free. */
export const showPrice = (money: Money | undefined, locale: string): string =>
  amountOf(money) ? showMoney(money, locale) : "";
