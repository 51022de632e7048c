import { Text } from "@mantine/core";
import { useInterval } from "@mantine/hooks";
import { useState } from "react";
import { millis, type Timestamp } from "../format/time";
import { useText } from "../i18n";
import classes from "./countdown.module.css";

/** The time left, in seconds. Screen readers announce it once, not every second. */
export function Countdown({ until }: { until: Timestamp | undefined }) {
  const t = useText();
  const left = Math.max(0, Math.round((millis(until) - useNow(1000)) / 1000));
  return (
    <Text span inherit fw={600} role="timer" className={classes.timer}>
      {left === 0 ? t.offers.over : clock(left)}
    </Text>
  );
}

/** 3725 as "1:02:05". */
function clock(seconds: number): string {
  const pad = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = pad(seconds % 60);
  return hours > 0 ? `${hours}:${pad(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** The current time in ms, updated at an interval. */
export function useNow(interval: number): number {
  const [now, setNow] = useState(() => Date.now());
  useInterval(() => setNow(Date.now()), interval, { autoInvoke: true });
  return now;
}

/** Whether a time has passed. Rerenders when it does. */
export function usePassed(at: Timestamp | undefined): boolean {
  const isPassed = () => millis(at) <= Date.now();
  const [passed, setPassed] = useState(isPassed);
  useInterval(() => setPassed(isPassed()), 1000, { autoInvoke: true });
  return passed;
}
