import { Tabs } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { useSearchParams } from "react-router";

export interface Part {
  readonly key: string;
  readonly label: string;
  readonly shown: ReactNode;
}

/** Which part of a page is shown: it stands in the address, unless it is the first. */
export function usePart<P extends { key: string }>(parts: readonly P[], name = "tab") {
  const [params, setParams] = useSearchParams();
  const part = parts.find(({ key }) => key === params.get(name)) ?? parts[0];
  const choose = (key: string | null) =>
    // What was chosen in one part means nothing in another.
    setParams(key && key !== parts[0]?.key ? { [name]: key } : {}, { replace: true });
  return [part, choose] as const;
}

/** The parts of a page, one at a time. */
export function Tabbed({
  parts,
  name = "tab",
  keep = false,
}: {
  parts: readonly Part[];
  name?: string;
  /** Work goes on in a part that is not in sight. */
  keep?: boolean;
}) {
  const [part, choose] = usePart(parts, name);
  const tabs = useRef<HTMLDivElement>(null);
  const key = part?.key;
  // There may be more than a telephone shows.
  useEffect(() => {
    const tab = tabs.current?.querySelector(`[role="tab"][data-key="${key}"]`);
    tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [key]);
  return (
    <Tabs value={key ?? null} onChange={choose} keepMounted={keep}>
      <Tabs.List mb="md" ref={tabs}>
        {parts.map(({ key, label }) => (
          <Tabs.Tab key={key} value={key} data-key={key}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {parts.map(({ key, shown }) => (
        <Tabs.Panel key={key} value={key}>
          {shown}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
