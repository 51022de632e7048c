import { Tabs } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { useSearchParams } from "react-router";

export interface Part {
  readonly key: string;
  readonly label: string;
  readonly shown: ReactNode;
}

/** The selected tab. It is in the URL unless it is the first. */
export function usePart<P extends { key: string }>(parts: readonly P[], name = "tab") {
  const [params, setParams] = useSearchParams();
  const part = parts.find(({ key }) => key === params.get(name)) ?? parts[0];
  const choose = (key: string | null) =>
    // Other parameters belong to the previous tab.
    setParams(key && key !== parts[0]?.key ? { [name]: key } : {}, { replace: true });
  return [part, choose] as const;
}

/** The tabs of a page. */
export function Tabbed({
  parts,
  name = "tab",
  keep = false,
}: {
  parts: readonly Part[];
  name?: string;
  /** Keeps hidden tabs mounted. */
  keep?: boolean;
}) {
  const [part, choose] = usePart(parts, name);
  const tabs = useRef<HTMLDivElement>(null);
  const key = part?.key;
  // On phones, tabs may not fit: scroll to the selected one.
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
