/**
 * Loads a script. It waits for a lost connection: an error would replace the page, with all that
 * was typed.
 */
export async function whenOnline<M>(load: () => Promise<M>): Promise<M> {
  for (let reached = false; ; ) {
    try {
      return await load();
    } catch (error) {
      const answer = await fetch("/healthz", { cache: "no-store" }).catch(() => undefined);
      if (reached && answer?.ok) throw error; // a newer version of the server lacks the script
      reached = answer?.ok === true;
      if (!reached) await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}
