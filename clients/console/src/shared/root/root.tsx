import "../theme/tokens.css";
import "@mantine/core/styles.layer.css";
import { ErrorReason, MemberService, TenantService } from "@berthhq/client";
import { type DescMessage, type DescMethodUnary, fromJson } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import {
  callUnaryMethod,
  createConnectQueryKey,
  TransportProvider,
  useQuery,
} from "@connectrpc/connect-query";
import { Button, Loader, MantineProvider } from "@mantine/core";
import { useTimeout } from "@mantine/hooks";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { type QueryClient, QueryClientProvider, useQueryClient } from "@tanstack/react-query";
import { setNonce } from "get-nonce";
import { lazy, type ReactNode, StrictMode, Suspense, useEffect, useMemo, useState } from "react";
import { createRoot } from "react-dom/client";
import { Connection, openApi, openQueries } from "../api/connection";
import { reasonOf } from "../api/errors";
import { Auth } from "../auth/auth";
import { AuthContext, type Me, MeContext, useAuth } from "../auth/user";
import { openQuestion } from "../dialogs/question";
import { loadTemporal } from "../format/time";
import { I18nProvider, useText } from "../i18n";
import type { Loaded } from "../i18n/load";
import { watchStyles, whenOnline } from "../loading/online";
import type { Answers, Expected } from "../start/expect-user";
import { useStore } from "../state/store";
import { theme } from "../theme/theme";
import { ErrorBoundary, Failure } from "../ui";
import { afterPage, type Page, page, pause } from "../ui/lazy";
import classes from "./root.module.css";

const SignIn = lazy(async () => ({ default: (await import("../sign-in/sign-in")).SignIn }));
const Stranger = lazy(async () => ({
  default: (await import("../sign-in/stranger")).Stranger,
}));
const Invited = lazy(async () => ({ default: (await import("../sign-in/invited")).Invited }));
const Dialogs = lazy(async () => ({
  default: (await whenOnline(() => import("../dialogs/dialogs"))).Dialogs,
}));

/**
 * How often the user's roles are polled, in ms: members get no event when one of their roles is
 * edited.
 */
const rolesInterval = 10_000;

/** How long a page waits for its app and the first answers before it shows that it loads, in ms. */
const patience = 500;

/**
 * Starts the app of signed-in users, which loads while they are identified, at "/" or "/app/". seed
 * stores the answers to calls that the first script made.
 */
export async function open(
  base: string,
  expected: Expected,
  loading: Promise<Loaded>,
  load: () => Promise<{ App: () => ReactNode }>,
  seed?: (queries: QueryClient, answers: Answers) => Promise<void>,
): Promise<void> {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
  setNonce(nonce); // for react-remove-scroll
  watchStyles();
  const queries = openQueries();
  const auth = new Auth(base);
  const connection = new Connection(() => void queries.invalidateQueries());
  const api = openApi(auth, connection);
  const live = (user: string) => {
    const onLost = () => void connection.probe();
    // It starts by reading everything again, which need not delay the page.
    const loading = afterPage().then(() => whenOnline(() => import("../api/live")));
    const watching = loading.then(({ watch }) => watch({ api, queries, user, onLost }));
    return () => void watching.then((stop) => stop());
  };
  // If a role lost a permission, refetch the user's permissions, so that pages disappear instead of
  // failing repeatedly.
  queries.getQueryCache().subscribe((event) => {
    if (event.type !== "updated" || event.action.type !== "error") return;
    const reason = reasonOf(event.action.error);
    if (reason === ErrorReason.NOT_A_MEMBER) auth.stranger();
    // What GetMe itself was refused, it would be refused again.
    if (reason === ErrorReason.PERMISSION_DENIED && event.query.meta?.me !== true) {
      void queries.invalidateQueries({ predicate: ({ meta }) => meta?.me === true });
    }
  });
  const start = async () => {
    await auth.start(expected);
    if (!isIn(auth)) return undefined;
    const answers = expected.answers.then(async (found) => {
      if (!found || found.token !== (await auth.current())) return undefined;
      if (found.stranger) auth.stranger();
      return found;
    });
    const seeded = seedMe(api.transport, queries, answers);
    const found = await answers;
    if (found) await seeded(found);
    return found;
  };
  // What was not read is read later.
  const started = start().catch(() => undefined);
  const seeded = started
    .then((answers) => answers && seed?.(queries, answers))
    .catch(() => undefined);
  const app = page(async () => {
    await seeded;
    return load();
  }, "App");
  const [texts] = await Promise.all([loading, loadTemporal(), parsed()]);
  // The answers are usually there, and the app is soon. Without them, it would ask again.
  const first = Promise.all([started, expected.user && app.load().catch(() => undefined)]);
  await Promise.race([first, new Promise((resolve) => setTimeout(resolve, patience))]);
  const root = document.getElementById("root");
  if (!root) throw new Error("the page has no root");
  createRoot(root).render(
    <StrictMode>
      <I18nProvider first={texts}>
        <Theme nonce={nonce}>
          <AuthContext value={auth}>
            <TransportProvider transport={api.transport}>
              <QueryClientProvider client={queries}>
                <ErrorBoundary>
                  <SignInGate connection={connection} live={live} app={app} />
                </ErrorBoundary>
              </QueryClientProvider>
            </TransportProvider>
          </AuthContext>
        </Theme>
      </I18nProvider>
    </StrictMode>,
  );
}

/** Resolves when the page is parsed. Its scripts may be faster, because they are asynchronous. */
async function parsed(): Promise<void> {
  if (document.readyState !== "loading") return;
  await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
}

const isIn = ({ state }: Auth) => state.kind === "in" && state.tenant !== "";

/**
 * Has the answers to the calls of the first script that every page needs, also while they are on
 * their way: a page that shows before they are there does not ask again. Returns what resolves when
 * those that came are there.
 */
function seedMe(
  transport: Transport,
  queries: QueryClient,
  answers: Promise<Answers | undefined>,
): (answers: Answers) => Promise<unknown> {
  const methods: readonly DescMethodUnary<DescMessage, DescMessage>[] = [
    MemberService.method.getMe,
    TenantService.method.getTenant,
  ];
  const seeds = methods.map((schema) => {
    const name = `${schema.parent.name}/${schema.name}`;
    const stored = queries.prefetchQuery({
      queryKey: createConnectQueryKey({ schema, input: {}, transport, cardinality: "finite" }),
      meta: { me: schema === MemberService.method.getMe },
      queryFn: async ({ signal }) => {
        const found = await answers.catch(() => undefined);
        if (found?.stranger) throw new Error("the user is no member"); // another page shows it
        const answer = found?.of.get(name);
        if (answer === undefined) return callUnaryMethod(transport, schema, {}, { signal });
        return fromJson(schema.output, answer, { ignoreUnknownFields: true });
      },
    });
    return { name, stored };
  });
  return ({ of }) =>
    Promise.all(seeds.filter(({ name }) => of.has(name)).map(({ stored }) => stored));
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
    <div role="status" aria-label={t.states.loading} className={classes.loading}>
      <Loader type="dots" aria-hidden />
    </div>
  );
}

interface Live {
  /** Refetches queries when events arrive, until the returned function is called. */
  readonly live: (user: string) => () => void;
  readonly app: Page;
}

function SignInGate({ connection, live, app }: Live & { connection: Connection }) {
  const state = useStore(useAuth());
  const queries = useQueryClient();
  const user = "tenant" in state ? `${state.identity.subject}@${state.tenant}` : "";
  // Drop all cached data when the user or tenant changes.
  useEffect(() => (user === "" ? undefined : () => queries.clear()), [user, queries]);
  if (state.kind === "starting") return <PageLoader />;
  if (state.kind === "out") {
    return (
      <Suspense fallback={<PageLoader />}>
        <SignIn failure={state.failure} />
      </Suspense>
    );
  }
  if (state.kind === "stranger" && state.linking) return <PageLoader />;
  if (state.kind === "invited" && !state.failure) return <PageLoader />;
  if (state.kind === "invited" && state.failure) {
    return (
      <Suspense fallback={<PageLoader />}>
        <Invited
          account={state.identity.account}
          elsewhere={state.identity.tenants.length > 1}
          failure={state.failure}
        />
      </Suspense>
    );
  }
  if (state.kind === "stranger") {
    return (
      <Suspense fallback={<PageLoader />}>
        <Stranger account={state.identity.account} elsewhere={state.identity.tenants.length > 1} />
      </Suspense>
    );
  }
  return (
    <>
      <LostConnection connection={connection} />
      {state.tenant === "" ? (
        <ChooseTenant tenants={state.identity.tenants} />
      ) : (
        <SignedIn key={user} user={user} live={live} app={app} />
      )}
      <LaterDialogs expired={state.kind === "expired"} />
    </>
  );
}

function SignedIn({ user, live, app: App }: Live & { user: string }) {
  useEffect(() => live(user), [live, user]);
  const loaded = useLoaded(App);
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
      pending: me.data.pendingContacts,
      tenant: tenant.data.tenant,
      can: (permission) => permissions.has(permission),
    };
  }, [me.data, tenant.data]);
  const auth = useAuth();
  const t = useText();
  if (value && loaded) {
    return (
      <MeContext value={value}>
        <Suspense fallback={<PageLoader />}>
          <App />
        </Suspense>
      </MeContext>
    );
  }
  const error = me.error ?? tenant.error;
  if (!error) return <PageLoader />;
  return (
    <main className={classes.failed}>
      <Failure
        error={error}
        retry={() => {
          void me.refetch();
          void tenant.refetch();
        }}
      />
      <Button variant="subtle" onClick={() => void auth.signOut()}>
        {t.signIn.other}
      </Button>
    </main>
  );
}

/** Whether the app has loaded. If it suspended instead, React would hold it back for 300 ms. */
function useLoaded(app: Page): boolean {
  const [loaded, setLoaded] = useState(app.loaded);
  useEffect(() => {
    const done = () => setLoaded(true); // if it failed, it shows the error
    app.load().then(done, done);
  }, [app]);
  return loaded;
}

function ChooseTenant({ tenants }: { tenants: readonly string[] }) {
  const auth = useAuth();
  const t = useText();
  return (
    <main className={classes.tenants}>
      <h1>{t.signIn.whichTenant}</h1>
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

/**
 * No page starts with a dialog. Dialogs load soon after it, to be there if the connection is lost.
 */
function LaterDialogs({ expired }: { expired: boolean }) {
  const question = useStore(openQuestion);
  const [late, setLate] = useState(false);
  useTimeout(() => setLate(true), pause, { autoInvoke: true });
  return (
    (late || expired || question) && (
      <Suspense fallback={null}>
        <Dialogs expired={expired} />
      </Suspense>
    )
  );
}

function LostConnection({ connection }: { connection: Connection }) {
  const t = useText();
  const lost = useStore(connection);
  return (
    <div aria-live="polite" className={classes.connection}>
      {lost && (
        <div className={classes.banner}>
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
