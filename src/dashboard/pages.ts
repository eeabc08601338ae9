/**
 * Every page: its path, its menu entry, and its code. A page is loaded when the user opens it, and all of them once the first one is drawn, so that
 * the next click does not wait. The build reads here which files the page of an address begins with
 * (scripts/build-dashboard.mjs), and the document names them.
 */
import {
  IconActivity,
  IconBell,
  IconBuilding,
  IconCreditCard,
  IconDashboard,
  IconFileExport,
  IconFolders,
  IconHistory,
  IconKey,
  IconLink,
  IconNetwork,
  IconPlugConnected,
  IconServer,
  IconTag,
  IconUsers,
  IconWebhook,
  IconWorld,
  type Icon,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { type LazyRoute, lazyRoute } from './lazy-route.tsx';
import type { Arrival } from './place.ts';

export interface PageEntry extends LazyRoute<object> {
  /** Below `/app`, as wouter reads it. */
  readonly path: string;
}

export interface MenuEntry {
  readonly href: string;
  readonly title: string;
  readonly icon: Icon;
  /** Seen by those alone who run the server. */
  readonly forOperators?: true;
  /** Only on a server where owners can change their plan. */
  readonly forBuyers?: true;
}

export interface MenuGroup {
  readonly title: string;
  readonly entries: readonly MenuEntry[];
}

export const MENU: readonly MenuGroup[] = [
  { title: '', entries: [{ href: '/', title: 'Overview', icon: IconDashboard }] },
  {
    title: 'Publish',
    entries: [
      { href: '/tunnels', title: 'Tunnels', icon: IconWorld },
      { href: '/domains', title: 'Domains', icon: IconLink },
      { href: '/names', title: 'Reserved names', icon: IconTag },
      { href: '/networks', title: 'Private networks', icon: IconNetwork },
    ],
  },
  {
    title: 'Monitor',
    entries: [
      { href: '/inspector', title: 'Inspector', icon: IconActivity },
      { href: '/connections', title: 'Connections', icon: IconPlugConnected },
      { href: '/webhooks', title: 'Webhooks', icon: IconWebhook },
      { href: '/alerts', title: 'Alerts', icon: IconBell },
    ],
  },
  {
    title: 'Access',
    entries: [
      { href: '/keys', title: 'Keys', icon: IconKey },
      { href: '/projects', title: 'Projects', icon: IconFolders },
    ],
  },
  {
    title: 'Organization',
    entries: [
      { href: '/members', title: 'Members', icon: IconUsers },
      { href: '/organization', title: 'Settings', icon: IconBuilding },
      { href: '/billing', title: 'Billing', icon: IconCreditCard, forBuyers: true },
      { href: '/audit', title: 'Audit log', icon: IconHistory },
      { href: '/export', title: 'Export', icon: IconFileExport },
    ],
  },
  { title: 'Server', entries: [{ href: '/operator', title: 'Operator', icon: IconServer, forOperators: true }] },
];

function page(path: string, from: () => Promise<ComponentType>): PageEntry {
  return { path, ...lazyRoute(from) };
}

/** For pages opened by a link with a secret in its address. */
interface Arriving {
  readonly arrival: Arrival;
}

interface OpenEntry extends LazyRoute<Arriving> {
  readonly path: string;
}

function open(path: string, from: () => Promise<ComponentType<Arriving>>): OpenEntry {
  return { path, ...lazyRoute(from) };
}

/** For signed-out users, at every address that needs a session. */
export const AUTH_PAGE = open('*', async () => (await import('./pages/auth/auth-page.tsx')).AuthPage);

/** Outside the shell, logged in or not. */
export const OPEN_PAGES: readonly OpenEntry[] = [
  open('/reset', async () => (await import('./pages/auth/reset-page.tsx')).ResetPage),
  open('/invite', async () => (await import('./pages/auth/invite-page.tsx')).InvitePage),
  open('/confirm-alerts', async () => (await import('./pages/alerts/confirm-page.tsx')).ConfirmPage),
  open('/shared/:token', async () => (await import('./pages/inspector/export/shared-page.tsx')).SharedPage),
  open('/cli', async () => (await import('./pages/auth/device-page.tsx')).DevicePage),
];

export const PAGES: readonly PageEntry[] = [
  page('/', async () => (await import('./pages/overview/overview-page.tsx')).OverviewPage),
  page('/tunnels', async () => (await import('./pages/tunnels/tunnels-page.tsx')).TunnelsPage),
  page('/tunnels/:id', async () => (await import('./pages/tunnels/tunnel-page.tsx')).TunnelPage),
  page('/domains', async () => (await import('./pages/domains/domains-page.tsx')).DomainsPage),
  page('/names', async () => (await import('./pages/names/names-page.tsx')).NamesPage),
  page('/networks', async () => (await import('./pages/networks/networks-page.tsx')).NetworksPage),
  page('/networks/:id', async () => (await import('./pages/networks/network-page.tsx')).NetworkPage),
  page('/inspector', async () => (await import('./pages/inspector/inspector-page.tsx')).InspectorPage),
  page('/inspector/:id', async () => (await import('./pages/inspector/request-page.tsx')).RequestPage),
  page('/connections', async () => (await import('./pages/connections/connections-page.tsx')).ConnectionsPage),
  page('/webhooks', async () => (await import('./pages/webhooks/receivers-page.tsx')).ReceiversPage),
  page('/webhooks/:id', async () => (await import('./pages/webhooks/receiver-page.tsx')).ReceiverPage),
  page('/alerts', async () => (await import('./pages/alerts/alerts-page.tsx')).AlertsPage),
  page('/keys', async () => (await import('./pages/keys/keys-page.tsx')).KeysPage),
  page('/projects', async () => (await import('./pages/projects/projects-page.tsx')).ProjectsPage),
  page('/projects/:slug', async () => (await import('./pages/projects/project-page.tsx')).ProjectPage),
  page('/members', async () => (await import('./pages/members/members-page.tsx')).MembersPage),
  page('/organization', async () => (await import('./pages/organization/organization-page.tsx')).OrganizationPage),
  page('/billing', async () => (await import('./pages/billing/billing-page.tsx')).BillingPage),
  page('/audit', async () => (await import('./pages/audit/audit-page.tsx')).AuditPage),
  page('/export', async () => (await import('./pages/export/export-page.tsx')).ExportPage),
  page('/account', async () => (await import('./pages/account/account-page.tsx')).AccountPage),
  page('/operator', async () => (await import('./pages/operator/operator-page.tsx')).OperatorPage),
  page('/operator/:part', async () => (await import('./pages/operator/operator-page.tsx')).OperatorPage),
];

/** Fetches what the page at `path` (below `/app`) is drawn with. */
export async function loadFirst(path: string, isSignedIn: boolean): Promise<void> {
  const parts = path.split('/');
  const isHere = (entry: { readonly path: string }): boolean => {
    const names = entry.path.split('/');
    return names.length === parts.length && names.every((name, i) => name.startsWith(':') || name === parts[i]);
  };
  await (OPEN_PAGES.find(isHere) ?? (isSignedIn ? PAGES.find(isHere) : AUTH_PAGE))?.load();
}

/** How long the first page has the line and the processor for itself. */
const QUIET_MS = 1_500;

/** Fetches the code of all pages, one after the other, when the browser has nothing else to do. */
export function loadAllWhenIdle(): () => void {
  const stop = new AbortController();
  const timer = setTimeout(() => void loadAll(stop.signal), QUIET_MS);
  return () => {
    clearTimeout(timer);
    stop.abort();
  };
}

async function loadAll(signal: AbortSignal): Promise<void> {
  for (const { load } of PAGES) {
    if ('requestIdleCallback' in window) await new Promise<unknown>((resolve) => requestIdleCallback(resolve));
    if (signal.aborted) return;
    // A page that can't be fetched now is fetched again when the user opens it, which shows the failure.
    await load().catch(() => {});
  }
}
