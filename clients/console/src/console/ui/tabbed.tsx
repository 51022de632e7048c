import { Tabs } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { useNavigate } from "react-router";
import { useSearch } from "../../shared/routing/route";
import { common } from "../routes";
import classes from "./tabbed.module.css";

export type Part = readonly [key: string, label: string, show: () => ReactNode];

type TabName = "tab" | "what";

/** The selected tab. It is in the URL unless it is the first. */
export function usePart(
  parts: readonly Part[],
  name: TabName = "tab",
  shared: readonly string[] = [],
) {
  const [search] = useSearch(common);
  const go = useNavigate();
  const part = parts.find(([key]) => key === search[name]) ?? parts[0];
  const choose = (key: string | null) => {
    // Other parameters belong to the previous tab.
    const kept = [...new URLSearchParams(window.location.search)].filter(([key]) =>
      shared.includes(key),
    );
    if (key && key !== parts[0]?.[0]) kept.push([name, key]);
    void go({ search: `${new URLSearchParams(kept)}` }, { replace: true });
  };
  return [part, choose] as const;
}

interface TabbedProps {
  parts: readonly (Part | false)[];
  name?: TabName;
  /** The parameters that all tabs have in common. */
  shared?: readonly string[];
  /** Keeps hidden tabs mounted. */
  keep?: boolean;
}

/** The tabs of a page. */
export function Tabbed({ parts: all, name = "tab", shared = [], keep = false }: TabbedProps) {
  const parts = all.filter((part) => part !== false);
  const [part, choose] = usePart(parts, name, shared);
  const tabs = useRef<HTMLDivElement>(null);
  const key = part?.[0];
  // On phones, tabs may not fit: scroll to the selected one.
  useEffect(() => {
    const tab = tabs.current?.querySelector(`[role="tab"][data-key="${key}"]`);
    tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [key]);
  return (
    <Tabs value={key ?? null} onChange={choose} keepMounted={keep} classNames={classes}>
      <Tabs.List mb="md" ref={tabs}>
        {parts.map(([key, label]) => (
          <Tabs.Tab key={key} value={key} data-key={key}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {parts.map(([key, , show]) => (
        <Tabs.Panel key={key} value={key}>
          {show()}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
