import { Fragment, type ReactNode } from "react";
import classes from "./prose.module.css";

/**
 * Renders the supported subset of Markdown: headings, lists and bold. Other text stays as it is.
 */
export function Prose({ text }: { text: string }) {
  const blocks: ReactNode[] = [];
  let items: ReactNode[] = [];
  let ordered = false;
  const close = () => {
    if (items.length === 0) return;
    const List = ordered ? "ol" : "ul";
    blocks.push(<List key={blocks.length}>{items}</List>);
    items = [];
  };
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const item = /^\s*(?:[-*•]|(\d+)[.)])\s+(.*)$/.exec(line);
    if (item) {
      if (items.length > 0 && ordered !== (item[1] !== undefined)) close();
      ordered = item[1] !== undefined;
      items.push(<li key={at}>{strong(item[2] ?? "")}</li>);
      continue;
    }
    close();
    const heading = /^#{1,6}\s+(.*)$/.exec(line);
    if (heading) blocks.push(<h3 key={`h${at}`}>{strong(heading[1] ?? "")}</h3>);
    else if (line.trim()) blocks.push(<p key={`p${at}`}>{strong(line)}</p>);
  }
  close();
  return <div className={classes.prose}>{blocks}</div>;
}

function strong(text: string): ReactNode {
  return text.split("**").map((part, at) =>
    at % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one line
      <strong key={at}>{part}</strong>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one line
      <Fragment key={at}>{part}</Fragment>
    ),
  );
}

/** A short version without markup. */
export function plain(text: string): string {
  return text
    .replaceAll(/^#{1,6}\s+/gm, "")
    .replaceAll(/^\s*[-*]\s+/gm, "• ")
    .replaceAll("**", "")
    .replaceAll(/\n{2,}/g, "\n");
}
