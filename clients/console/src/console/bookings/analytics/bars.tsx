import { getThemeColor, Tooltip, useMantineTheme } from "@mantine/core";
import type { CSSProperties } from "react";
import classes from "./bars.module.css";

/*
 * Stacked bars. A charting library would be most of the script of the page, for one kind of chart.
 */

export interface Row {
  readonly label: string;
  /** By the name of the series. */
  readonly values: Readonly<Record<string, number>>;
}

export interface Series {
  readonly name: string;
  readonly label: string;
  readonly color: string;
}

/** How many parts the scale has at most, and how many days are named. */
const [parts, names] = [5, 7];

/** The round step of a scale that reaches a number: 1, 2 or 5 times a power of ten. */
export function stepOf(highest: number): number {
  const least = Math.max(1, highest / parts);
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((n) => n * power >= least) ?? 10) * power;
}

export function Bars({ data, series }: { data: readonly Row[]; series: readonly Series[] }) {
  const theme = useMantineTheme();
  const numberOf = ({ values }: Row, { name }: Series) => values[name] ?? 0;
  const totals = data.map((row) => series.reduce((sum, each) => sum + numberOf(row, each), 0));
  const step = stepOf(Math.max(...totals));
  const steps = Math.max(1, Math.ceil(Math.max(...totals) / step));
  const ticks = Array.from({ length: steps + 1 }, (_, at) => at * step);
  const color = (each: Series) =>
    ({ "--color": getThemeColor(each.color, theme) }) as CSSProperties;
  const every = Math.ceil(data.length / names);
  return (
    <div className={classes.chart}>
      <div className={classes.scale} aria-hidden>
        {ticks.map((tick) => (
          <span key={tick}>{tick}</span>
        ))}
      </div>
      <div className={classes.plot} style={{ "--step": `${100 / steps}%` } as CSSProperties}>
        {data.map((row) => (
          <Tooltip.Floating
            key={row.label}
            label={
              <>
                <b>{row.label}</b>
                {series.map((each) => (
                  <div key={each.name} className={classes.series} style={color(each)}>
                    {each.label}: {numberOf(row, each)}
                  </div>
                ))}
              </>
            }
          >
            <div className={classes.day}>
              {series.map((each) => {
                const share = `${(100 * numberOf(row, each)) / (steps * step)}%`;
                const style = { ...color(each), "--share": share } as CSSProperties;
                return <div key={each.name} className={classes.bar} style={style} />;
              })}
            </div>
          </Tooltip.Floating>
        ))}
      </div>
      <div className={classes.days} aria-hidden>
        {data.map(({ label }, at) => (
          <span key={label} className={classes.name}>
            {at % every === 0 && label}
          </span>
        ))}
      </div>
      <div className={classes.legend}>
        {series.map((each) => (
          <span key={each.name} className={classes.series} style={color(each)}>
            {each.label}
          </span>
        ))}
      </div>
    </div>
  );
}
