/** The authentication pages for visitors, the pages inside the shell for signed-in users. */
import { Button, Center, Container, Loader } from '@mantine/core';
import { Suspense } from 'react';
import { Link, Redirect, Route, Switch } from 'wouter';
import { AccountProvider, useAccountQuery, useApi, useSessionState } from './api/context.tsx';
import { OPEN_PAGES, type PageEntry, PAGES, AUTH_PAGE } from './pages.ts';
import { STEP_PATHS } from './pages/auth/step-address.ts';
import { Boundary } from './boundary.tsx';
import { Empty } from './parts/empty.tsx';
import { FailureAlert } from './parts/loaded.tsx';
import { Page } from './parts/page.tsx';
import type { Arrival } from './place.ts';
import { Shell } from './shell/shell.tsx';
import { IconMoodEmpty, IconPlugX } from '@tabler/icons-react';

/** Of everything that has a page of its own. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function App({ arrival }: { readonly arrival: Arrival }) {
  return (
    <Suspense fallback={<Waiting />}>
      <Switch>
        {OPEN_PAGES.map(({ path, Component }) => (
          <Route key={path} path={path}>
            <Component arrival={arrival} />
          </Route>
        ))}
        <Route>
          <Home arrival={arrival} />
        </Route>
      </Switch>
    </Suspense>
  );
}

function Home({ arrival }: { readonly arrival: Arrival }) {
  const { state, epoch } = useSessionState();
  if (state === 'starting') return <Waiting />;
  if (state === 'away') return <Away />;
  if (state !== 'in') return <AUTH_PAGE.Component arrival={arrival} />;
  return <Inside key={epoch} />;
}

function Inside() {
  const account = useAccountQuery();
  if (account.data === undefined)
    return account.isError ? <FailureAlert error={account.error} again={account.refetch} /> : <Waiting />;
  return (
    <AccountProvider value={account.data}>
      <Shell>
        <Suspense fallback={<Waiting />}>
          <Switch>
            {PAGES.map((entry) => (
              <Route key={entry.path} path={entry.path}>
                {(params) => <OnePage entry={entry} params={params} />}
              </Route>
            ))}
            {Object.values(STEP_PATHS).map((path) => (
              <Route key={path} path={path}>
                <Redirect to="/" replace />
              </Route>
            ))}
            <Route>
              <NoSuchPage />
            </Route>
          </Switch>
        </Suspense>
      </Shell>
    </AccountProvider>
  );
}

interface OnePageProps {
  readonly entry: PageEntry;
  readonly params: Readonly<Record<string, string | undefined>>;
}

/** What was typed for one thing is not kept for the next: each has a page of its own. */
function OnePage({ entry: { path, Component }, params }: OnePageProps) {
  if (params['id'] !== undefined && !UUID.test(params['id'])) return <NoSuchPage />;
  const key = Object.values(params).join('/');
  return (
    <Boundary key={`${path} ${key}`}>
      <Component key={key} />
    </Boundary>
  );
}

function NoSuchPage() {
  return (
    <Page title="Page not found">
      <Empty
        icon={IconMoodEmpty}
        title="There is no page at this URL"
        action={
          <Button component={Link} href="/">
            Go to overview
          </Button>
        }
      >
        It may have been deleted, or belong to another organization. Choose a page from the menu, or press Ctrl+K to
        search.
      </Empty>
    </Page>
  );
}

/** The browser has a session, and the server does not say whose. */
function Away() {
  const { session } = useApi();
  return (
    <Container component="main" size="sm" py="xl">
      <Page title="Server not responding">
        <Empty
          icon={IconPlugX}
          title="You are probably still logged in"
          action={<Button onClick={() => void session.begin()}>Try again</Button>}
        >
          The server may be restarting, or your network may be down.
        </Empty>
      </Page>
    </Container>
  );
}

function Waiting() {
  return (
    <Center mih={240}>
      <Loader aria-label="Loading" />
    </Center>
  );
}
