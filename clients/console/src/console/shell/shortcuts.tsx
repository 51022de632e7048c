import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import { useNavigate } from "react-router";
import { useText } from "../../shared/i18n";
import { later } from "../../shared/ui/lazy";
import { Modal } from "../../shared/ui/overlays";
import { useNavItems } from "./nav";
import { paletteKeys } from "./open-palette";
import { shellTexts } from "./texts";

const Keys = later(() => import("./keys"), "Keys");

/** The keyboard shortcuts of all pages, and the dialog that lists them. */
export function Shortcuts() {
  const t = useText(shellTexts);
  const [help, { toggle, close }] = useDisclosure();
  useGoKeys();
  useHotkeys([["shift+?", toggle], ...paletteKeys]);
  return (
    <Modal opened={help} onClose={close} title={t.keys.title}>
      <Keys />
    </Modal>
  );
}

/** Pressing "g" and a letter opens a page. */
function useGoKeys() {
  const places = useNavItems();
  const go = useNavigate();
  const armed = useRef(0);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.isContentEditable) return;
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      if (event.key === "g") {
        armed.current = event.timeStamp;
        return;
      }
      if (event.timeStamp - armed.current < 1200) {
        const place = places.find(({ key }) => key === event.key);
        if (place) void go(place.path);
      }
      armed.current = Number.NEGATIVE_INFINITY;
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [places, go]);
}
