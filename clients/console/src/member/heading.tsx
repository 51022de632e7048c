import { useTitle } from "../shared/title";

/** The title of a page and of the browser tab. */
export function Heading({ children, tab = children }: { children: string; tab?: string }) {
  useTitle(tab);
  return <h1>{children}</h1>;
}
