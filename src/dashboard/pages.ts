/**
 * Every page inside the shell: where it is, who sees it in the menu, and the code that it needs. Pages are loaded when somebody goes there, and
 * all of them once the first one stands, so that the next click waits for nothing.
 */
import {
  IconActivity,
  IconBuilding,
  IconCreditCard,
  IconDashboard,
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
import { type ComponentType, lazy, type LazyExoticComponent } from 'react';

type Loader = () => Promise<{ readonly default: ComponentType }>;

export interface PageEntry {
  /** Below `/app`, as wouter reads it. */
  readonly path: string;
  readonly load: Loader;
  readonly Component: LazyExoticComponent<ComponentType>;
}

export interface MenuEntry {
  readonly href: string;
  readonly title: string;
  readonly icon: Icon;
  /** Seen by those alone who run the server. */
  readonly forOperators?: true;
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
    title: 'Watch',
    entries: [
      { href: '/inspector', title: 'Inspector', icon: IconActivity },
      { href: '/connections', title: 'Connections', icon: IconPlugConnected },
      { href: '/webhooks', title: 'Webhooks', icon: IconWebhook },
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
      { href: '/billing', title: 'Billing', icon: IconCreditCard },
      { href: '/audit', title: 'Audit', icon: IconHistory },
    ],
  },
  { title: 'Server', entries: [{ href: '/operator', title: 'Operator', icon: IconServer, forOperators: true }] },
];

function page(path: string, load: Loader): PageEntry {
  return { path, load, Component: lazy(load) };
}

export const PAGES: readonly PageEntry[] = [
  page('/', async () => ({ default: (await import('./pages/overview/overview-page.tsx')).OverviewPage })),
  page('/tunnels', async () => ({ default: (await import('./pages/tunnels/tunnels-page.tsx')).TunnelsPage })),
  page('/tunnels/:id', async () => ({ default: (await import('./pages/tunnels/tunnel-page.tsx')).TunnelPage })),
  page('/domains', async () => ({ default: (await import('./pages/domains/domains-page.tsx')).DomainsPage })),
  page('/names', async () => ({ default: (await import('./pages/names/names-page.tsx')).NamesPage })),
  page('/networks', async () => ({ default: (await import('./pages/networks/networks-page.tsx')).NetworksPage })),
  page('/networks/:id', async () => ({ default: (await import('./pages/networks/network-page.tsx')).NetworkPage })),
  page('/inspector', async () => ({ default: (await import('./pages/inspector/inspector-page.tsx')).InspectorPage })),
  page('/inspector/:id', async () => ({ default: (await import('./pages/inspector/request-page.tsx')).RequestPage })),
  page('/connections', async () => ({
    default: (await import('./pages/connections/connections-page.tsx')).ConnectionsPage,
  })),
  page('/webhooks', async () => ({ default: (await import('./pages/webhooks/receivers-page.tsx')).ReceiversPage })),
  page('/webhooks/:id', async () => ({ default: (await import('./pages/webhooks/receiver-page.tsx')).ReceiverPage })),
  page('/keys', async () => ({ default: (await import('./pages/keys/keys-page.tsx')).KeysPage })),
  page('/projects', async () => ({ default: (await import('./pages/projects/projects-page.tsx')).ProjectsPage })),
  page('/projects/:slug', async () => ({ default: (await import('./pages/projects/project-page.tsx')).ProjectPage })),
  page('/members', async () => ({ default: (await import('./pages/members/members-page.tsx')).MembersPage })),
  page('/organization', async () => ({
    default: (await import('./pages/organization/organization-page.tsx')).OrganizationPage,
  })),
  page('/billing', async () => ({ default: (await import('./pages/billing/billing-page.tsx')).BillingPage })),
  page('/audit', async () => ({ default: (await import('./pages/audit/audit-page.tsx')).AuditPage })),
  page('/account', async () => ({ default: (await import('./pages/account/account-page.tsx')).AccountPage })),
  page('/operator', async () => ({ default: (await import('./pages/operator/operator-page.tsx')).OperatorPage })),
  page('/operator/:part', async () => ({ default: (await import('./pages/operator/operator-page.tsx')).OperatorPage })),
];

/** Fetches the code of all pages, when the browser has nothing else to do. */
export function loadAllWhenIdle(): () => void {
  if (!('requestIdleCallback' in window)) return () => {};
  const handle = requestIdleCallback(() => {
    // A page that can't be fetched now is fetched again, and its failure told, when somebody goes there.
    for (const { load } of PAGES) load().catch(() => {});
  });
  return () => cancelIdleCallback(handle);
}
