import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./tokens.css";
import { ErrorReason, MemberService, TenantService } from "@berthhq/client";
import { TransportProvider, useQuery, useTransport } from "@connectrpc/connect-query";
import { Button, Loader, MantineProvider, Modal } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { QueryClientProvider, useQueryClient } from "@tanstack/react-query";
import { setNonce } from "get-nonce";
import {
  type ReactNode,
  StrictMode,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from "react";
import { createRoot } from "react-dom/client";
import { I18nProvider, useText } from "../i18n";
import { openQueries, openTransport } from "./api";
import { AskDialog } from "./ask";
import { Auth } from "./auth";
import { Connection } from "./connection";
import { reasonOf } from "./errors";
import { watch } from "./live";
import { AuthContext, type Me, MeContext, useAuth, useAuthState } from "./me";
import { SignIn } from "./signin";
import { theme } from "./theme";
import { ErrorBoundary, Failure } from "./ui";

/**
 * How often the user's roles are polled, in ms: members get no event when one of their roles is
 * edited.
 */
const rolesInterval = 10_000;

/** Starts an app at "/" or "/app/". */
export function open(base: string, app: ReactNode): void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
  setNonce(nonce); // for react-remove-scroll
  const queries = openQueries();
  const auth = new Auth(base);
  const connection = new Connection(() => void queries.invalidateQueries());
  const transport = openTransport(auth, connection);
  // If a role lost a permission, refetch the user's permissions, so that pages disappear instead of
  // failing repeatedly.
  queries.getQueryCache().subscribe((event) => {
    if (event.type !== "updated" || event.action.type !== "error") return;
    if (reasonOf(event.action.error) === ErrorReason.PERMISSION_DENIED) {
      void queries.invalidateQueries({ predicate: ({ meta }) => meta?.me === true });
    }
  });
  void auth.start();
  const root = document.getElementById("root");
  if (!root) throw new Error("the page has no root");
  createRoot(root).render(
    <StrictMode>
      <I18nProvider>
        <Theme nonce={nonce}>
          <AuthContext value={auth}>
            <TransportProvider transport={transport}>
              <QueryClientProvider client={queries}>
                <Notifications position="bottom-right" autoClose={5000} />
                <ErrorBoundary>
                  <SignInGate connection={connection}>{app}</SignInGate>
                </ErrorBoundary>
              </QueryClientProvider>
            </TransportProvider>
          </AuthContext>
        </Theme>
      </I18nProvider>
    </StrictMode>,
  );
}

function Theme({ nonce, children }: { nonce: string; children: ReactNode }) {
  const t = useText();
  const localized = useMemo(() => theme(t.actions.close), [t]);
  return (
    <MantineProvider theme={localized} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      {children}
    </MantineProvider>
  );
}

function PageLoader() {
  const t = useText();
  return (
    <div
      role="status"
      aria-label={t.states.loading}
      style={{ display: "grid", placeItems: "center", minHeight: "100dvh" }}
    >
      <Loader type="dots" aria-hidden />
    </div>
  );
}

function SignInGate({ connection, children }: { connection: Connection; children: ReactNode }) {
  const state = useAuthState();
  const queries = useQueryClient();
  const user = "tenant" in state ? `${state.identity.subject}@${state.tenant}` : "";
  // Drop all cached data when the user or tenant changes.
  useEffect(() => {
    if (user === "") queries.clear();
  }, [user, queries]);
  if (state.kind === "starting") return <PageLoader />;
  if (state.kind === "out") return <SignIn failure={state.failure} />;
  return (
    <>
      <LostConnection connection={connection} />
      {state.tenant === "" ? (
        <ChooseTenant />
      ) : (
        <SignedIn key={user} user={user} connection={connection}>
          {children}
        </SignedIn>
      )}
      <AskDialog />
      <SignInAgain open={state.kind === "expired"} />
    </>
  );
}

function SignedIn({
  user,
  connection,
  children,
}: {
  user: string;
  connection: Connection;
  children: ReactNode;
}) {
  const transport = useTransport();
  const queries = useQueryClient();
  useEffect(
    () => watch({ transport, queries, user, onLost: () => void connection.probe() }),
    [transport, queries, user, connection],
  );
  const me = useQuery(
    MemberService.method.getMe,
    {},
    { refetchInterval: rolesInterval, meta: { me: true } },
  );
  const tenant = useQuery(TenantService.method.getTenant, {}, { staleTime: 60_000 });
  const value = useMemo<Me | undefined>(() => {
    if (!me.data?.member || !tenant.data?.tenant) return undefined;
    const permissions = new Set(me.data.permissions);
    return {
      member: me.data.member,
      devices: me.data.devices,
      tenant: tenant.data.tenant,
      can: (permission) => permissions.has(permission),
    };
  }, [me.data, tenant.data]);
  const auth = useAuth();
  const t = useText();
  if (value) return <MeContext value={value}>{children}</MeContext>;
  const error = me.error ?? tenant.error;
  if (!error) return <PageLoader />;
  return (
    <main style={{ paddingTop: "18vh" }}>
      <Failure
        error={error}
        retry={() => {
          void me.refetch();
          void tenant.refetch();
        }}
      />
      <div style={{ textAlign: "center" }}>
        <Button variant="subtle" onClick={() => void auth.signOut()}>
          {t.signIn.other}
        </Button>
      </div>
    </main>
  );
}

function ChooseTenant() {
  const auth = useAuth();
  const t = useText();
  const state = useAuthState();
  const tenants = "identity" in state ? state.identity.tenants : [];
  return (
    <main style={{ maxWidth: 460, margin: "16vh auto", padding: 20, display: "grid", gap: 8 }}>
      <h1 style={{ fontSize: 22 }}>{t.signIn.whichTenant}</h1>
      {tenants.length === 0 && <p>{t.signIn.noTenant}</p>}
      {tenants.map((id) => (
        <TenantChoice key={id} id={id} onChoose={() => auth.choose(id)} />
      ))}
    </main>
  );
}

function TenantChoice({ id, onChoose }: { id: string; onChoose: () => void }) {
  const { data } = useQuery(TenantService.method.getTenant, { tenantId: id });
  return (
    <Button variant="default" justify="start" onClick={onChoose}>
      {data?.tenant?.name ?? id}
    </Button>
  );
}

function LostConnection({ connection }: { connection: Connection }) {
  const t = useText();
  const lost = useSyncExternalStore(connection.subscribe, connection.isLost);
  return (
    <div aria-live="polite" style={{ position: "sticky", top: 0, zIndex: 400 }}>
      {lost && (
        <div className="banner">
          <IconPlugConnectedX size={17} aria-hidden />
          <span>
            <strong>{t.errors.lost}</strong> {t.errors.lostNote}
          </span>
          <Button size="compact-xs" variant="default" onClick={() => void connection.probe()}>
            {t.actions.retry}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Opens over the page, so that what was typed stays. */
function SignInAgain({ open }: { open: boolean }) {
  const auth = useAuth();
  const t = useText();
  const [busy, setBusy] = useState(false);
  const signIn = async () => {
    setBusy(true);
    try {
      await (auth.config.development && !auth.config.issuer ? auth.resume() : auth.signIn());
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={open}
      onClose={() => undefined}
      withCloseButton={false}
      title={t.signIn.expired}
      zIndex={500}
    >
      <p style={{ marginTop: 0 }}>{t.signIn.expiredNote}</p>
      <div style={{ display: "flex", gap: 8, justifyContent: "flex-end" }}>
        <Button variant="subtle" color="gray" onClick={() => void auth.signOut()}>
          {t.signIn.other}
        </Button>
        <Button loading={busy} onClick={() => void signIn()} data-autofocus>
          {t.signIn.again}
        </Button>
      </div>
    </Modal>
  );
}
