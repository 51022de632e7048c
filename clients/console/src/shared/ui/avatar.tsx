import { Box } from "@mantine/core";
import classes from "./avatar.module.css";

/** Initials on a color derived from the name. */
export function Avatar({ name, size = 28 }: { name: string; size?: number }) {
  let hue = 0;
  for (const letter of name) hue = (hue * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  const initials = name
    .split(/\s+/)
    .map(([first]) => first ?? "")
    .filter((_, at, all) => at === 0 || at === all.length - 1)
    .join("");
  return (
    <Box
      component="span"
      aria-hidden
      className={classes.avatar}
      __vars={{ "--size": `${size}px`, "--hue": String(hue) }}
    >
      {initials}
    </Box>
  );
}
