import { use, useEffect } from "react";
import { MeContext } from "./me";

/** Names the browser's tab: the page first, because tabs are narrow. */
export function useTitle(page: string): void {
  const house = use(MeContext)?.tenant.name ?? "Berth";
  useEffect(() => {
    document.title = `${page} · ${house}`;
  }, [page, house]);
}
