import { useSyncExternalStore } from "react";

/** State outside of React that components follow. */
export class Store<T> {
  #state: T;
  #listeners = new Set<() => void>();

  constructor(first: T) {
    this.#state = first;
  }

  get state(): T {
    return this.#state;
  }

  set(state: T): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

export const useStore = <T>(store: Store<T>): T =>
  useSyncExternalStore(store.subscribe, () => store.state);
