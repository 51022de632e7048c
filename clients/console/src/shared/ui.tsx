import { ErrorReason } from "@berthhq/client";
import { ActionIcon, Button, Skeleton, Tooltip } from "@mantine/core";
import {
  type Icon,
  IconAlertTriangle,
  IconCircleDashed,
  IconCopy,
  IconLock,
  IconMapOff,
  IconPlugConnectedX,
} from "@tabler/icons-react";
import { Component, type ReactNode, useState } from "react";
import { Link } from "react-router";
import { useI18n, useText } from "../i18n";
import { explain, reasonOf } from "./errors";
import { here, showTime, type TimeStyle, type Timestamp, zoneName } from "./time";
import { useTitle } from "./title";

export function Mark({ size = 24 }: { size?: number }) {
  return <img src="/icon.svg" width={size} height={size} alt="" />;
}

/** A tenant's logo, or its name if there is none or it does not load. */
export function Logo({
  url,
  name,
  onMissing,
  children,
}: {
  url: string;
  name: string;
  /** Called with whether the image failed to load. */
  onMissing?: (missing: boolean) => void;
  children: ReactNode;
}) {
  const [missing, setMissing] = useState("");
  if (!url || missing === url) return children;
  return (
    <img
      className="logo"
      src={url}
      alt={name}
      referrerPolicy="no-referrer"
      onLoad={() => onMissing?.(false)}
      onError={() => {
        setMissing(url);
        onMissing?.(true);
      }}
    />
  );
}

/** The header of a page. It also sets the title of the browser tab. */
export function PageHead({
  title,
  mark,
  tags,
  note,
  children,
}: {
  title: string;
  /** Shown before and after the title. */
  mark?: ReactNode;
  tags?: ReactNode;
  note?: ReactNode;
  children?: ReactNode;
}) {
  useTitle(title);
  return (
    <header className="page-head">
      <div>
        <h1>
          {mark}
          {title}
          {tags}
        </h1>
        {note && <p>{note}</p>}
      </div>
      {children && <div className="page-actions">{children}</div>}
    </header>
  );
}

export function Card({
  title,
  extra,
  children,
  bare,
}: {
  title?: ReactNode;
  extra?: ReactNode;
  children: ReactNode;
  /** The content has its own padding. */
  bare?: boolean;
}) {
  return (
    <section className="card">
      {(title || extra) && (
        <header>
          <h2 style={{ margin: 0, fontSize: 14, fontWeight: 600 }}>{title}</h2>
          {extra}
        </header>
      )}
      <div className={bare ? "" : "body"}>{children}</div>
    </section>
  );
}

export type Tone = "good" | "warn" | "bad" | "accent" | "plain" | "";

export function Tag({ tone = "", children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`tag ${tone}`}>{children}</span>;
}

interface StateProps {
  icon?: Icon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

export function State({ icon: Sign = IconCircleDashed, title, children, action }: StateProps) {
  return (
    <div className="state">
      <Sign size={34} stroke={1.4} aria-hidden />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action && <div className="actions">{action}</div>}
    </div>
  );
}

/** Shown if the user lacks the permission for a page. */
export function NoPermission({ permission }: { permission: string }) {
  const t = useText();
  useTitle(t.states.noPermission);
  return (
    <State icon={IconLock} title={t.states.noPermission}>
      {t.states.noPermissionNote(permission)}
    </State>
  );
}

/** Shown for unknown URLs. */
export function NoPage({ home }: { home: string }) {
  const t = useText();
  useTitle(t.states.noPage);
  return (
    <State
      icon={IconMapOff}
      title={t.states.noPage}
      action={
        <Button component={Link} to="/" variant="default">
          {home}
        </Button>
      }
    >
      {t.states.noPageNote}
    </State>
  );
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t, locale } = useI18n();
  const reason = reasonOf(error);
  if (reason === ErrorReason.PERMISSION_DENIED) {
    return (
      <State icon={IconLock} title={t.states.noPermission}>
        {explain(error, t, locale, here())}
      </State>
    );
  }
  const absent = ErrorReason[reason]?.endsWith("_NOT_FOUND");
  return (
    <State
      icon={IconAlertTriangle}
      title={absent ? t.states.absent : t.states.failed}
      action={
        retry &&
        !absent && (
          <Button variant="default" size="sm" onClick={retry}>
            {t.actions.retry}
          </Button>
        )
      }
    >
      {explain(error, t, locale, here())}
    </State>
  );
}

interface Asked<T> {
  data: T | undefined;
  error: unknown;
  isPending: boolean;
  refetch: () => unknown;
}

/** Shows a query's data, its loading state or its error. */
export function Shown<T>({
  of,
  children,
  skeleton,
  rows = 6,
}: {
  of: Asked<T>;
  children: (data: T) => ReactNode;
  skeleton?: ReactNode;
  rows?: number;
}) {
  const t = useText();
  // Existing data stays visible during a refetch, even if it fails: the connection banner tells.
  if (of.data !== undefined) return children(of.data);
  if (of.error) return <Failure error={of.error} retry={of.refetch} />;
  return (
    <div role="status" aria-label={t.states.loading}>
      {skeleton ?? (
        <div style={{ display: "grid", gap: 10, padding: 16 }}>
          {Array.from({ length: rows }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: all rows are the same
            <Skeleton key={row} height={18} width={`${96 - ((row * 17) % 40)}%`} />
          ))}
        </div>
      )}
    </div>
  );
}

interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** Loads the next page of a list, if there is one. */
export function More({ of }: { of: Paged }) {
  const t = useText();
  if (!of.hasNextPage) return null;
  return (
    <div style={{ textAlign: "center", padding: "12px 0" }}>
      <Button
        variant="default"
        size="sm"
        loading={of.isFetchingNextPage}
        onClick={() => void of.fetchNextPage()}
      >
        {t.actions.more}
      </Button>
    </div>
  );
}

/** Options of paged queries. */
export const paged = {
  pageParamKey: "pageToken",
  getNextPageParam: ({ nextPageToken }: { nextPageToken: string }) => nextPageToken || undefined,
} as const;

/** Limits an error to the page; the rest of the app keeps working. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <Broken again={() => this.setState({ error: undefined })} />;
  }
}

function Broken({ again }: { again: () => void }) {
  const t = useText();
  return (
    <State
      icon={IconPlugConnectedX}
      title={t.states.broken}
      action={
        <Button variant="default" onClick={again}>
          {t.actions.retry}
        </Button>
      }
    >
      {t.states.brokenNote}
    </State>
  );
}

/** A time in a time zone. If the browser's zone differs, a tooltip shows the local time. */
export function Time({
  at,
  zone,
  as = "dayTime",
}: {
  at: Timestamp | undefined;
  zone: string;
  as?: TimeStyle;
}) {
  const { locale } = useI18n();
  if (!at) return null;
  const title = `${showTime(at, zone, locale, "full")} ${zoneName(zone, locale, Number(at.seconds) * 1000)} (${zone})`;
  return (
    <time dateTime={new Date(Number(at.seconds) * 1000).toISOString()} title={title}>
      {showTime(at, zone, locale, as)}
    </time>
  );
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} onClick={() => void navigator.clipboard.writeText(text)}>
        <IconCopy size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

/** Initials on a color derived from the name. */
export function Face({ name, size = 28 }: { name: string; size?: number }) {
  let hue = 0;
  for (const letter of name) hue = (hue * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  const initials = name
    .split(/\s+/)
    .map(([first]) => first ?? "")
    .filter((_, at, all) => at === 0 || at === all.length - 1)
    .join("");
  return (
    <span
      aria-hidden
      style={{
        flex: "none",
        width: size,
        height: size,
        borderRadius: "50%",
        display: "inline-grid",
        placeItems: "center",
        fontSize: size * 0.38,
        fontWeight: 600,
        background: `light-dark(hsl(${hue} 42% 90%), hsl(${hue} 24% 24%))`,
        color: `light-dark(hsl(${hue} 48% 26%), hsl(${hue} 50% 84%))`,
      }}
    >
      {initials}
    </span>
  );
}
