import { createContext, type ReactNode, use } from "react";
import { QueryResult } from "../../shared/ui";
import { type Catalog, useCatalogQuery } from "./data";

const CatalogContext = createContext<Catalog | null>(null);

interface WithCatalogProps {
  skeleton?: ReactNode;
  rows?: number;
  children: ReactNode;
}

/** Loads the catalog for a page that cannot be shown without it. */
export function WithCatalog({ children, ...loading }: WithCatalogProps) {
  return (
    <QueryResult query={useCatalogQuery()} {...loading}>
      {(catalog) => <CatalogContext value={catalog}>{children}</CatalogContext>}
    </QueryResult>
  );
}

/** The catalog of WithCatalog. */
export function useCatalog(): Catalog {
  const catalog = use(CatalogContext);
  if (!catalog) throw new Error("used outside of WithCatalog");
  return catalog;
}
