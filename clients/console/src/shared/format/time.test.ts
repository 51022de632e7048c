import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import {
  atWallClock,
  millis,
  minuteOfDay,
  parseClock,
  sameClock,
  showClock,
  showSpan,
  showTime,
  startOf,
  Temporal,
  weekStart,
  zoned,
  zoneName,
} from "./time";

const day = (text: string) => Temporal.PlainDate.from(text);
const utc = (text: string) => timestampFromMs(Date.parse(text));

describe("local time", () => {
  it.each([
    ["in winter", "2026-03-28", 600, "2026-03-28T09:00:00Z"],
    ["in summer", "2026-03-30", 600, "2026-03-30T08:00:00Z"],
    ["that a change skips", "2026-03-29", 150, "2026-03-29T01:30:00Z"],
    ["that comes twice", "2026-10-25", 150, "2026-10-25T00:30:00Z"],
  ])("finds the instant of a time %s", (_, on, minute, want) => {
    expect(new Date(millis(atWallClock(day(on), minute, "Europe/Berlin"))).toISOString()).toBe(
      want.replace("Z", ".000Z"),
    );
  });

  it("round-trips", () => {
    for (const zone of ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Chatham"]) {
      for (let at = 0; at < 1440; at += 45) {
        const back = zoned(atWallClock(day("2026-06-15"), at, zone), zone);
        expect([minuteOfDay(back), back.toPlainDate().toString()]).toEqual([at, "2026-06-15"]);
      }
    }
  });

  it("supports days that do not start at midnight", () => {
    expect(millis(startOf(day("2026-09-06"), "America/Santiago"))).toBe(
      Date.parse("2026-09-06T04:00:00Z"),
    );
  });
});

it("starts weeks on Monday", () => {
  expect(weekStart(day("2026-03-29")).toString()).toBe("2026-03-23");
  expect(weekStart(day("2026-03-23")).toString()).toBe("2026-03-23");
});

it("formats times in the user's locale", () => {
  const at = utc("2026-03-28T17:05:00Z");
  expect(showTime(at, "Europe/Berlin", "en-GB", "time")).toBe("18:05");
  expect(showTime(at, "America/New_York", "de-DE", "day")).toBe("Sa., 28. März");
  expect(zoneName("Europe/Berlin", "en-GB", millis(at))).toBe("CET");
  expect(sameClock("Europe/Berlin", "Europe/Paris", millis(at))).toBe(true);
  expect(sameClock("Europe/Berlin", "Europe/Lisbon", millis(at))).toBe(false);
});

it("parses and formats clock times and durations", () => {
  expect(["7:05", "23:59", "24:00", "1:60", "x"].map(parseClock)).toEqual([
    425,
    1439,
    undefined,
    undefined,
    undefined,
  ]);
  expect([0, 425, 1439].map(showClock)).toEqual(["00:00", "07:05", "23:59"]);
  expect([0, 45, 75, 1440, 1530].map((minutes) => showSpan(minutes * 60_000))).toEqual([
    "0 min",
    "45 min",
    "1 h 15 min",
    "1 d",
    "1 d 1 h 30 min",
  ]);
});
