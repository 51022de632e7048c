import { useTitle } from "../shared/title";

/** What a page is called, in it and in the browser's tab. */
export function Heading({ children, tab = children }: { children: string; tab?: string }) {
  useTitle(tab);
  return <h1>{children}</h1>;
}
