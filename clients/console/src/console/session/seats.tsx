import type { Session } from "@berthhq/client";
import type { CSSProperties } from "react";
import { useText } from "../../i18n";

export function Seats({ session }: { session: Session }) {
  const t = useText();
  const { capacity, seatsTaken, seatsOpen = 0 } = session;
  if (capacity === undefined)
    return (
      <span className="num">
        {seatsTaken} · {t.session.noLimit}
      </span>
    );
  const style = {
    "--part": `${capacity === 0 ? 100 : Math.min(100, (seatsTaken / capacity) * 100)}%`,
  };
  return (
    <span className="seats">
      <i style={style as CSSProperties} aria-hidden />
      <span {...(seatsOpen === 0 && { style: { color: "var(--bad)", fontWeight: 560 } })}>
        {t.session.ofSeats(seatsTaken, capacity)}
      </span>
    </span>
  );
}
