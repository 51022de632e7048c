interface Money {
  readonly currencyCode: string;
  readonly units: bigint;
  readonly nanos: number;
}

/** An amount as people write it; empty where there is none, or it is nothing. */
export function showMoney(money: Money | undefined, locale: string): string {
  if (!money?.currencyCode) return "";
  const amount = Number(money.units) + money.nanos / 1e9;
  if (amount === 0) return "";
  return new Intl.NumberFormat(locale, { style: "currency", currency: money.currencyCode }).format(
    amount,
  );
}
