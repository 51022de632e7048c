import { NotificationChannel, type RenderedMessage } from "@berthhq/client";
import { SegmentedControl } from "@mantine/core";
import { getNonce } from "get-nonce";
import { useEffect, useRef, useState } from "react";
import { useNotices } from "../../i18n/notices";
import { Mark, Tag } from "../../shared/ui";

/** A message as its recipient sees it. */
export function Rendered({ message }: { message: RenderedMessage }) {
  const n = useNotices();
  switch (message.channel) {
    case NotificationChannel.SMS:
      return (
        <div className="phone">
          <div className="bubble">{message.text}</div>
          <div className="muted" style={{ fontSize: 12 }}>
            {n.segments(message.segments)}, {message.gsm7 ? n.gsm : n.unicode}
          </div>
        </div>
      );
    case NotificationChannel.PUSH:
      return (
        <div className="phone">
          <div className="push">
            <Mark size={30} />
            <div style={{ minWidth: 0 }}>
              <strong style={{ fontWeight: 600 }}>{message.subject}</strong>
              <div>{message.text}</div>
            </div>
          </div>
          {message.link && (
            <div className="muted" style={{ fontSize: 12, overflowWrap: "anywhere" }}>
              {n.outbox.link} {message.link}
            </div>
          )}
        </div>
      );
    default:
      return <Mail message={message} />;
  }
}

type View = "html" | "text" | "calendar";

function Mail({ message }: { message: RenderedMessage }) {
  const n = useNotices();
  const [view, setView] = useState<View>("html");
  const views = (["html", "text", "calendar"] as const).filter(
    (one) => message[one] || one === "text",
  );
  const shown = views.includes(view) ? view : "text";
  return (
    <div className="mail">
      <div className="mail-head">
        <strong className="mail-subject">{message.subject}</strong>
        <SegmentedControl
          size="xs"
          aria-label={n.channels[NotificationChannel.EMAIL]}
          value={shown}
          onChange={(next) => setView(next as View)}
          data={views.map((value) => ({ value, label: n.outbox[value] }))}
        />
      </div>
      {shown === "html" ? <Frame html={message.html} /> : <pre>{message[shown]}</pre>}
      {message.calendar && shown !== "calendar" && (
        <div>
          <Tag tone="plain">{n.outbox.calendar}</Tag>
        </div>
      )}
    </div>
  );
}

/**
 * An email in a sandboxed frame where no scripts run. The frame inherits the page's content
 * security policy, which forbids inline styles: style elements get the page's nonce, and style
 * attributes are set by script from outside.
 */
function Frame({ html }: { html: string }) {
  const n = useNotices();
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(320);
  const applyStyles = () => {
    const page = frame.current?.contentDocument;
    if (!page?.body) return;
    for (const element of page.querySelectorAll<HTMLElement>("[data-style]")) {
      element.style.cssText = element.dataset.style ?? "";
    }
    setHeight(Math.min(1200, page.documentElement.scrollHeight));
  };
  const source = withoutInlineStyles(html);
  // biome-ignore lint/correctness/useExhaustiveDependencies: also for a new email in a loaded frame
  useEffect(applyStyles, [source]);
  return (
    <iframe
      ref={frame}
      title={n.outbox.frame}
      sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      srcDoc={source}
      onLoad={applyStyles}
      style={{ height }}
    />
  );
}

/**
 * Moves style attributes to data attributes. Security comes from the frame's sandbox, not from
 * this.
 */
export function withoutInlineStyles(html: string): string {
  const nonce = getNonce() ?? "";
  const tags = html.replace(/<[a-z][^>]*>/gi, (tag) =>
    tag.replace(/\sstyle\s*=/gi, " data-style=").replace(/^<style\b/i, `<style nonce="${nonce}"`),
  );
  return `<base target="_blank">${tags}`;
}
