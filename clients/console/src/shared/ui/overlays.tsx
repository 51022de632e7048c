import { lazy, type ReactElement, Suspense } from "react";
import { whenOnline } from "../loading/online";
import { later } from "./lazy";

/* What opens over a page. Its script, of 50 kB with all that it needs, loads soon after the page. */

const load = () => import("./overlays-loaded");

export const Drawer = later(load, "Drawer", { opener: "opened" });
export const Modal = later(load, "Modal", { opener: "opened" });

const Loaded = lazy(async () => ({ default: (await whenOnline(load)).Tooltip }));

/** Shows the label of a button that has none, while the mouse or the focus is on it. */
export const Tooltip = ({ label, children }: { label: string; children: ReactElement }) => (
  <Suspense fallback={children}>
    <Loaded label={label}>{children}</Loaded>
  </Suspense>
);
