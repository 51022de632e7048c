import { Box, type BoxProps } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import classes from "./figures.module.css";

type Fact = readonly [label: ReactNode, value: ReactNode];

/** Names and values in two columns. Facts without a value are left out. */
export function Facts({ of, ...props }: BoxProps & { of: readonly (Fact | false | "")[] }) {
  return (
    <Box component="dl" className={classes.facts} {...props}>
      {of.map(
        (fact, at) =>
          fact &&
          Boolean(fact[1]) && (
            // biome-ignore lint/suspicious/noArrayIndexKey: facts keep their places
            <Fragment key={at}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </Fragment>
          ),
      )}
    </Box>
  );
}

interface StatsProps {
  of: readonly (readonly [label: string, value: string | number, note?: string])[];
}

/** A row of statistics: label, value, and an optional note. */
export function Stats({ of }: StatsProps) {
  const noted = of.some(([, , note]) => note);
  return (
    <dl className={classes.stats}>
      {of.map(([label, value, note]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd className={classes.value}>{value}</dd>
          {noted && <dd className={classes.note}>{note || "\u00a0"}</dd>}
        </div>
      ))}
    </dl>
  );
}
