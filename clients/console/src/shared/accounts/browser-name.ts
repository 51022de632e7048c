/* Names of browsers and systems in the header User-Agent. Those that name others as well come first. */
const browsers = [
  [/Edg(e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/SamsungBrowser\//, "Samsung Internet"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\//, "Chrome"],
  [/Safari\//, "Safari"],
] as const;
const systems = [
  [/iPhone|iPod/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/CrOS/, "ChromeOS"],
  [/Mac OS X|Macintosh/, "Mac"],
  [/Linux/, "Linux"],
] as const;

/** What people call a browser, such as "Firefox · Windows"; "" if it names itself otherwise. */
export function browserName(agent: string): string {
  const named = (of: typeof browsers | typeof systems) =>
    of.find(([pattern]) => pattern.test(agent))?.[1];
  return [named(browsers), named(systems)].filter(Boolean).join(" · ");
}
