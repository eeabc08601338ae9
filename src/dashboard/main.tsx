/**
 * Where the dashboard starts: what all pages share is made here, and nowhere else. All style sheets too: what comes with a page that is loaded
 * later would not be fetched.
 */
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/table.css';
import './style/figures.css';
import './style/account.css';
import './style/auth.css';
import './style/tunnels.css';
import './style/policy.css';
import './style/inspector.css';
import './style/request.css';
import './style/body.css';
import { MantineProvider } from '@mantine/core';
import { Notifications, notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { makeClient } from './api/client.ts';
import { ApiProvider } from './api/context.tsx';
import { Failure, OTHER_BY_NOW } from './api/failure.ts';
import { App } from './app.tsx';
import { loadFirst } from './pages.ts';
import { Boundary } from './boundary.tsx';
import { sayNews } from './parts/action.ts';
import { prefetch, arrival, base, firstPath, metaOf, session, url } from './start.ts';
import { CSS_VARIABLES, THEME } from './theme.ts';

const client = makeClient(url, { session, prefetch });
session.whenOther(() => sayNews(OTHER_BY_NOW));

/** The page's policy lets those styles through that know this word. */
const nonce = metaOf('csp-nonce');
setNonce(nonce);

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A server on this machine or in its network answers while the browser takes itself for offline: a request without a response is a failure that the page shows.
      networkMode: 'always',
      staleTime: 5000,
      // What the API refuses it refuses again; only a lost answer is worth another try.
      retry: (count, error) => count < 2 && error instanceof Failure && (error.status === 0 || error.status >= 502),
    },
    // Nor is an action delayed until the user has forgotten it.
    mutations: { networkMode: 'always' },
  },
});

/** Data of one user or organization is not shown to the next. Runs before the pages draw anew: what they fetch then must stay. */
function forgetWithTheSession(): void {
  let shownTo = session.epoch;
  session.subscribe(() => {
    if (session.epoch === shownTo) return;
    shownTo = session.epoch;
    queries.clear();
    notifications.clean();
  });
}

forgetWithTheSession();

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no place for the dashboard');
const start = (): void => {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={THEME}
        cssVariablesResolver={CSS_VARIABLES}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <Notifications position="bottom-right" limit={4} />
        <QueryClientProvider client={queries}>
          <ApiProvider value={{ url, session, client }}>
            <Router base={base}>
              <Boundary>
                <App arrival={arrival} />
              </Boundary>
            </Router>
          </ApiProvider>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
};
// Drawn once, and whole. What could not be fetched is fetched again by the page itself, which tells its failure.
loadFirst(firstPath(), session.state === 'starting' || session.state === 'in').then(start, start);
