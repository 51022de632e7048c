import type { HotkeyItem } from "@mantine/hooks";
import { createSpotlight } from "@mantine/spotlight";

export const [paletteStore, { open: openPalette }] = createSpotlight();

export const paletteKeys: HotkeyItem[] = [
  ["mod+K", openPalette],
  ["/", openPalette],
];
