import { NotificationChannel, type RenderedMessage } from "@berthhq/client";
import { Box, Group, SegmentedControl, Stack } from "@mantine/core";
import { getNonce } from "get-nonce";
import { useEffect, useRef, useState } from "react";
import { useText } from "../../shared/i18n";
import { notificationTexts } from "../../shared/messages/texts";
import { BerthIcon, Tag } from "../../shared/ui";
import { Note } from "../ui";
import text from "../ui/text.module.css";
import classes from "./mail.module.css";
import { messageTexts } from "./texts";

/** A message as its recipient sees it. */
export function Rendered({ message }: { message: RenderedMessage }) {
  const t = useText(messageTexts);
  switch (message.channel) {
    case NotificationChannel.SMS:
      return (
        <Stack gap={8} maw={360}>
          <div className={classes.bubble}>{message.text}</div>
          <Note>
            {t.messages.segments(message.segments ?? 0)},{" "}
            {message.gsm7 ? t.messages.gsm : t.messages.unicode}
          </Note>
        </Stack>
      );
    case NotificationChannel.PUSH:
      return (
        <Stack gap={8} maw={360}>
          <div className={classes.push}>
            <BerthIcon size={30} />
            <Box miw={0}>
              <Box component="strong" fw={600}>
                {message.subject}
              </Box>
              <div>{message.text}</div>
            </Box>
          </div>
          {message.link && (
            <Note className={text.anywhere}>
              {t.messages.outbox.link} {message.link}
            </Note>
          )}
        </Stack>
      );
    default:
      return <Mail message={message} />;
  }
}

function Mail({ message }: { message: RenderedMessage }) {
  const t = useText(messageTexts, notificationTexts);
  const [view, setView] = useState<"html" | "text" | "calendar">("html");
  const views = (["html", "text", "calendar"] as const).filter(
    (one) => message[one] || one === "text",
  );
  const shown = views.includes(view) ? view : "text";
  return (
    <Stack gap={12}>
      <Group justify="space-between" gap="8px 16px">
        <strong className={classes.subject}>{message.subject}</strong>
        <SegmentedControl
          size="xs"
          aria-label={t.notifications.channels[NotificationChannel.EMAIL]}
          value={shown}
          onChange={setView}
          data={views.map((value) => ({ value, label: t.messages.outbox[value] }))}
        />
      </Group>
      {shown === "html" ? (
        <Frame html={message.html} />
      ) : (
        <pre className={classes.source}>{message[shown]}</pre>
      )}
      {message.calendar && shown !== "calendar" && (
        <div>
          <Tag tone="plain">{t.messages.outbox.calendar}</Tag>
        </div>
      )}
    </Stack>
  );
}

/**
 * An email in a sandboxed frame where no scripts run. The frame inherits the page's content
 * security policy, which forbids inline styles: style elements get the page's nonce, and style
 * attributes are set by script from outside.
 */
function Frame({ html }: { html: string }) {
  const t = useText(messageTexts);
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
      className={classes.frame}
      ref={frame}
      title={t.messages.outbox.frame}
      sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      srcDoc={source}
      onLoad={applyStyles}
      height={height}
    />
  );
}

/**
 * Moves style attributes to data attributes. Security comes from the frame's sandbox, not from
 * this.
 */
function withoutInlineStyles(html: string): string {
  const nonce = getNonce() ?? "";
  const tags = html.replace(/<[a-z][^>]*>/gi, (tag) =>
    tag.replace(/\sstyle\s*=/gi, " data-style=").replace(/^<style\b/i, `<style nonce="${nonce}"`),
  );
  return `<base target="_blank">${tags}`;
}
