import { use, useEffect } from "react";
import { MeContext } from "../auth/user";

/** Sets the title of the browser tab. The page comes first, because tabs are narrow. */
export function useTitle(page: string): void {
  const organization = use(MeContext)?.tenant.name ?? "Berth";
  useEffect(() => {
    document.title = `${page} · ${organization}`;
  }, [page, organization]);
}
