import { ErrorReason } from "@berthhq/client";
import { Button, Center, Skeleton, Stack } from "@mantine/core";
import {
  type Icon,
  IconAlertTriangle,
  IconCircleDashed,
  IconLock,
  IconPlugConnectedX,
} from "@tabler/icons-react";
import { Component, type ReactNode } from "react";
import { explain, reasonOf } from "../api/errors";
import { here } from "../format/time";
import { useI18n, useText } from "../i18n";
import classes from "./query-result.module.css";
import { useTitle } from "./title";

export interface Query<T> {
  data: T | undefined;
  error: unknown;
  refetch: () => unknown;
}

/** Shows a query's data, its loading state or its error. */
export function QueryResult<T>({
  query: { data, error, refetch },
  children,
  ...loading
}: LoadingProps & { query: Query<T>; children: (data: T) => ReactNode }) {
  // Existing data stays visible during a refetch, even if it fails: the connection banner tells.
  if (data !== undefined) return children(data);
  if (error) return <Failure error={error} retry={refetch} />;
  return <Loading {...loading} />;
}

interface LoadingProps {
  skeleton?: ReactNode;
  /** The height of the skeleton, in lines of text. */
  rows?: number | undefined;
}

/** Shown while data or a script loads. */
export function Loading({ skeleton, rows = 6, dialog }: LoadingProps & { dialog?: boolean }) {
  const t = useText();
  return (
    <div
      role="status"
      aria-label={t.states.loading}
      className={dialog ? classes.dialog : undefined}
    >
      {skeleton ?? (
        <Stack gap={10} p={16}>
          {Array.from({ length: rows }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: all rows are the same
            <Skeleton key={row} height={18} width={`${96 - ((row * 17) % 40)}%`} />
          ))}
        </Stack>
      )}
    </div>
  );
}

export interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** Loads the next page of a list, if there is one. */
export function More({ query }: { query: Partial<Paged> }) {
  const t = useText();
  if (!query.hasNextPage) return null;
  return (
    <Center py={12}>
      <Button
        variant="default"
        size="sm"
        loading={query.isFetchingNextPage ?? false}
        onClick={() => void query.fetchNextPage?.()}
      >
        {t.actions.more}
      </Button>
    </Center>
  );
}

interface StateProps {
  icon?: Icon;
  title: string;
  note?: ReactNode;
  action?: ReactNode;
  compact?: boolean;
}

/** Shown instead of content: there is none, or it cannot be shown. */
export function State({
  icon: Sign = IconCircleDashed,
  title,
  note,
  action,
  compact = false,
}: StateProps) {
  return (
    <div className={classes.state} data-compact={compact || undefined}>
      <Sign size={34} stroke={1.4} aria-hidden />
      <h2 className={classes.title}>{title}</h2>
      {note && <p className={classes.note}>{note}</p>}
      {action && <div className={classes.actions}>{action}</div>}
    </div>
  );
}

/** Shown if the user lacks the permission for a page. */
export function NoPermission({ permission }: { permission: string }) {
  const t = useText();
  useTitle(t.states.noPermission);
  return (
    <State
      icon={IconLock}
      title={t.states.noPermission}
      note={t.states.noPermissionNote(permission)}
    />
  );
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t, locale } = useI18n();
  const reason = reasonOf(error);
  const denied = reason === ErrorReason.PERMISSION_DENIED;
  const absent = ErrorReason[reason]?.endsWith("_NOT_FOUND");
  const title = absent ? t.states.absent : t.states.failed;
  return (
    <State
      icon={denied ? IconLock : IconAlertTriangle}
      title={denied ? t.states.noPermission : title}
      action={
        retry &&
        !absent &&
        !denied && (
          <Button variant="default" size="sm" onClick={retry}>
            {t.actions.retry}
          </Button>
        )
      }
      note={explain(error, t, locale, here())}
    />
  );
}

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
      note={t.states.brokenNote}
    />
  );
}
