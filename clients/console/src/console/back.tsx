import { IconArrowLeft } from "@tabler/icons-react";
import { Link, useLocation } from "react-router";

/** What a link tells the page that it leads to: the address that it stood on. */
export interface From {
  readonly from?: string;
}

/** Leads back to the list that somebody came from, as they left it. */
export function Back({ to, label }: { to: string; label: string }) {
  const { from } = (useLocation().state ?? {}) as From;
  return (
    <Link to={from?.startsWith(to.split("?")[0] ?? to) ? from : to} className="back">
      <IconArrowLeft size={15} aria-hidden /> {label}
    </Link>
  );
}
