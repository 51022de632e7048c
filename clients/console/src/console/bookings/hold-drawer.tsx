import type { Booking, Session } from "@berthhq/client";
import { useDesk } from "../../i18n/desk";
import { later } from "../../shared/lazy";
import { WithCatalog } from "../catalog/loaded";
import { Panel } from "../ui";

const Hold = later(() => import("./hold"), "Hold");

/** What the drawer shows: an existing hold, or a session to hold a seat in. */
export interface Held {
  readonly session: Session;
  readonly booking?: Booking;
}

export interface HoldProps<H> {
  held: H;
  onChange: (held: Held | undefined) => void;
}

/** Holds a seat while someone pays, then confirms or releases the hold. */
export function HoldDrawer({ held, ...props }: HoldProps<Held | undefined>) {
  const d = useDesk();
  return (
    <Panel
      of={held}
      title={({ booking }) => (booking ? d.hold.confirmTitle : d.hold.title)}
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
