/** Whether the last request reached the server. */
export class Connection {
  #lost = false;
  #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** back is called when the server is reachable again. */
  constructor(readonly back: () => void) {}

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  isLost = (): boolean => this.#lost;

  lost(): void {
    if (this.#lost) return;
    this.#change(true);
    this.#look();
  }

  found(): void {
    if (!this.#lost) return;
    clearTimeout(this.#timer);
    this.#change(false);
    this.back();
  }

  /** Checks immediately whether the server is reachable. */
  async probe(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const answer = await fetch("/healthz", { cache: "no-store" });
      if (answer.ok) {
        this.found();
        return;
      }
    } catch {
      // Not yet.
    }
    this.lost();
    this.#look();
  }

  #look(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.probe(), 2000);
  }

  #change(lost: boolean): void {
    this.#lost = lost;
    for (const listener of this.#listeners) listener();
  }
}
