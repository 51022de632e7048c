import { useText } from "../../shared/i18n";
import { later } from "../../shared/ui/lazy";
import { WithCatalog } from "../catalog/loaded";
import { Panel } from "../ui";
import type { Held, HoldProps } from "./hold";
import { bookingTexts } from "./texts";

const Hold = later(() => import("./hold"), "Hold");

/** Holds a seat while someone pays, then confirms or releases the hold. */
export function HoldDrawer({ held, ...props }: HoldProps<Held | undefined>) {
  const t = useText(bookingTexts);
  return (
    <Panel
      of={held}
      title={({ booking }) => (booking ? t.hold.confirmTitle : t.hold.title)}
      width={500}
      onClose={() => props.onChange(undefined)}
    >
      {(shown) => (
        <WithCatalog>
          <Hold held={shown} {...props} />
        </WithCatalog>
      )}
    </Panel>
  );
}
