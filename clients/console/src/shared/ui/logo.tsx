import { type ReactNode, useState } from "react";
import classes from "./logo.module.css";

export function BerthIcon({ size = 24 }: { size?: number }) {
  return <img src="/icon.svg" width={size} height={size} alt="" />;
}

interface LogoProps {
  url: string;
  name: string;
  /** Called with whether the image failed to load. */
  onMissing?: (missing: boolean) => void;
  children: ReactNode;
}

/** A tenant's logo, or its name if there is none or it does not load. */
export function Logo({ url, name, onMissing, children }: LogoProps) {
  const [missing, setMissing] = useState("");
  if (!url || missing === url) return children;
  return (
    <img
      className={classes.logo}
      src={url}
      alt={name}
      referrerPolicy="no-referrer"
      onLoad={() => onMissing?.(false)}
      onError={() => {
        setMissing(url);
        onMissing?.(true);
      }}
    />
  );
}

/** An icon and a name, or a logo. */
export function Wordmark({ children }: { children: ReactNode }) {
  return <span className={classes.wordmark}>{children}</span>;
}
