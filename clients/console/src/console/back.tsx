import { IconArrowLeft } from "@tabler/icons-react";
import { Link, useLocation } from "react-router";

/** Router state of a link: the address of the page with the link. */
export interface From {
  readonly from?: string;
}

/** Links back to the list the user came from, with its filters. */
export function Back({ to, label }: { to: string; label: string }) {
  const { from } = (useLocation().state ?? {}) as From;
  return (
    <Link to={from?.startsWith(to.split("?")[0] ?? to) ? from : to} className="back">
      <IconArrowLeft size={15} aria-hidden /> {label}
    </Link>
  );
}
