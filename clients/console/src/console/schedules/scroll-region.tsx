import type { ReactNode, Ref } from "react";
import { useText } from "../../shared/i18n";
import classes from "./scroll-region.module.css";

/** The schedule below its toolbar. It scrolls in both directions. */
export function ScrollRegion({ ref, children }: { ref?: Ref<HTMLElement>; children: ReactNode }) {
  const t = useText();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must reach scrollable content
    <section ref={ref} className={classes.region} tabIndex={0} aria-label={t.nav.schedule}>
      {children}
    </section>
  );
}
