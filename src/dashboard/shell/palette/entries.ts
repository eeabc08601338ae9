/** What the palette finds: pages, the organization's things, documentation. */
import { useQueries } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import { MENU } from '../../pages.ts';
import { menuFor } from '../menu.ts';
import { DOCS } from './docs-pages.ts';
import type { Entry } from './match.ts';

const OPERATOR: ReadonlyArray<readonly [string, string]> = [
  ['Instance', 'instance'],
  ['Users', 'users'],
  ['Organizations', 'organizations'],
  ['Certificates', 'certificates'],
  ['Signing keys', 'keys'],
];
/** Lists that were read a moment ago are not read again for a glance. */
const FRESH_MS = 30_000;

/** Pages at once; the rest as it comes. Keys of queries are those of the pages. */
export function useEntries(): readonly Entry[] {
  const { client, url } = useApi();
  const account = useAccount();
  const { id } = account.active_org;
  const [tunnels, keys, members, domains, networks, receivers, projects] = useQueries({
    queries: [
      { queryKey: ['tunnels'], queryFn: () => answered(client.GET('/tunnels')), staleTime: FRESH_MS },
      { queryKey: ['tokens'], queryFn: () => answered(client.GET('/tokens')), staleTime: FRESH_MS },
      {
        queryKey: ['orgs', id, 'members'],
        queryFn: () => answered(client.GET('/orgs/{id}/members', { params: { path: { id } } })),
        staleTime: FRESH_MS,
      },
      { queryKey: ['domains'], queryFn: () => answered(client.GET('/domains')), staleTime: FRESH_MS },
      { queryKey: ['private-networks'], queryFn: () => answered(client.GET('/private-networks')), staleTime: FRESH_MS },
      {
        queryKey: ['webhook-receivers'],
        queryFn: () => answered(client.GET('/webhook-receivers')),
        staleTime: FRESH_MS,
      },
      { queryKey: ['projects'], queryFn: () => answered(client.GET('/projects')), staleTime: FRESH_MS },
    ],
  });
  const pages = menuFor(MENU, account).flatMap(({ entries }) => entries);
  return [
    ...pages.map(({ title, href }) => ({ kind: 'Page', title, href })),
    { kind: 'Page', title: 'Account', href: '/account', detail: 'password two-factor sessions' },
    ...(account.is_superadmin
      ? OPERATOR.map(([title, part]) => ({ kind: 'Operator', title, href: `/operator/${part}` }))
      : []),
    ...(tunnels.data ?? []).map((one) => ({
      kind: 'Tunnel',
      title: one.subdomain,
      detail: one.publicUrl,
      href: `/tunnels/${one.id}`,
    })),
    ...(keys.data ?? []).map(({ name, nonce }) => ({ kind: 'Key', title: name, href: `/keys?key=${nonce}` })),
    ...(members.data ?? []).map(({ name, email }) => ({
      kind: 'Member',
      title: name === '' ? email : name,
      detail: email,
      href: '/members',
    })),
    ...(domains.data ?? []).map(({ domain }) => ({ kind: 'Domain', title: domain, href: '/domains' })),
    ...(networks.data ?? []).map((one) => ({ kind: 'Network', title: one.name, href: `/networks/${one.id}` })),
    ...(receivers.data ?? []).map((one) => ({ kind: 'Webhook', title: one.name, href: `/webhooks/${one.id}` })),
    ...(projects.data ?? []).map((one) => ({
      kind: 'Project',
      title: one.name,
      detail: one.slug,
      href: `/projects/${one.slug}`,
    })),
    ...DOCS.map(([title, page]) => ({
      kind: 'Documentation',
      title,
      href: new URL(`docs/${page}`, url).href,
      isDocs: true as const,
    })),
  ];
}
