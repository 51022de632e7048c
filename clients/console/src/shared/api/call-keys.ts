import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { create, equals } from "@bufbuild/protobuf";

/**
 * The idempotency keys of a call that changes something. The same input has the same key until it
 * has succeeded: a second click, or another attempt after an answer was lost, is the same call, and
 * not a second refund.
 */
export class CallKeys<I extends DescMessage> {
  #last: { input: MessageShape<I>; key: string } | undefined;
  readonly #schema: I;
  readonly #newKey: () => string;

  constructor(schema: I, newKey: () => string) {
    this.#schema = schema;
    this.#newKey = newKey;
  }

  keyOf(init: MessageInitShape<I>): string {
    const input = create(this.#schema, init);
    if (!this.#last || !equals(this.#schema, this.#last.input, input)) {
      this.#last = { input, key: this.#newKey() };
    }
    return this.#last.key;
  }

  /** Call it when a call has succeeded: the same input is another call from now on. */
  done(): void {
    this.#last = undefined;
  }
}
