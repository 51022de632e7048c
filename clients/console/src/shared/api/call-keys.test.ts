import { RefundPaymentRequestSchema } from "@berthhq/client";
import { expect, it } from "vitest";
import { CallKeys } from "./call-keys";

it("gives the same input the same key until it has succeeded", () => {
  let made = 0;
  const keys = new CallKeys(RefundPaymentRequestSchema, () => `key ${++made}`);
  const five = () => keys.keyOf({ bookingId: "b", amount: { currencyCode: "EUR", units: 5n } });
  expect(five()).toBe("key 1");
  expect(five()).toBe("key 1");
  expect(keys.keyOf({ bookingId: "b", amount: { currencyCode: "EUR", units: 6n } })).toBe("key 2");
  expect(five()).toBe("key 3");
  keys.done();
  expect(five()).toBe("key 4");
});
