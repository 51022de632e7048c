import { useEffect, useState } from "react";
import { useText } from "../i18n";
import { millis, type Timestamp } from "./time";

/** The time left, in seconds. Screen readers announce it once, not every second. */
export function Countdown({ until }: { until: Timestamp | undefined }) {
  const t = useText();
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const left = Math.max(0, Math.round((millis(until) - now) / 1000));
  return (
    <span role="timer" className="num" style={{ fontWeight: 600 }}>
      {left === 0 ? t.offers.over : clock(left)}
    </span>
  );
}

/** 3725 as "1:02:05". */
export function clock(seconds: number): string {
  const pad = (n: number) => String(n).padStart(2, "0");
  const [hours, minutes, rest] = [
    Math.floor(seconds / 3600),
    Math.floor((seconds % 3600) / 60),
    seconds % 60,
  ];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(rest)}` : `${minutes}:${pad(rest)}`;
}
