/** The links of stylesheets that could not be loaded. Vite tries each stylesheet only once. */
const failed = new Set<HTMLLinkElement>();

/** Remembers which stylesheets fail, for the next script that loads. */
export function watchStyles(): void {
  const remember = ({ target }: Event) => {
    if (target instanceof HTMLLinkElement && target.rel === "stylesheet") failed.add(target);
  };
  document.addEventListener("error", remember, { capture: true }); // it does not bubble
}

/** Loads failed stylesheets again. Resolves when each is loaded or has failed once more. */
async function loadFailed(): Promise<void> {
  const again = [...failed].map((link) => {
    const copy = link.cloneNode() as HTMLLinkElement;
    const settled = new Promise((done) => {
      copy.addEventListener("load", done);
      copy.addEventListener("error", done);
    });
    link.replaceWith(copy);
    return settled;
  });
  failed.clear();
  await Promise.all(again);
}

/**
 * Loads a script and its styles. It waits for a lost connection: an error would replace the page,
 * with all that was typed.
 */
export async function whenOnline<M>(load: () => Promise<M>): Promise<M> {
  for (let reached = false; ; ) {
    try {
      await loadFailed();
      return await load();
    } catch (error) {
      const answer = await fetch("/healthz", { cache: "no-store" }).catch(() => undefined);
      if (reached && answer?.ok) throw error; // a newer version of the server lacks the script
      reached = answer?.ok === true;
      if (!reached) await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}
