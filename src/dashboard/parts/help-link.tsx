/** The link to the documentation that fits the page where the user is. */
import { Anchor } from '@mantine/core';
import { useLocation, useSearchParams } from 'wouter';
import { useApi } from '../api/context.tsx';

/** First segment of the page's address, and its tab → page and section below `/docs/`. */
const HELP: Readonly<Record<string, string>> = {
  '': 'dashboard',
  tunnels: 'agents',
  'tunnels access-control': 'visitor-login',
  'tunnels policy': 'policies',
  'tunnels maintenance': 'basic-auth#show-a-maintenance-page',
  domains: 'domains#use-your-own-domain',
  names: 'domains#keep-a-name',
  networks: 'private-networks',
  inspector: 'inspector',
  connections: 'agents#check-the-state',
  webhooks: 'webhooks',
  keys: 'access-keys',
  projects: 'access-keys#projects',
  members: 'teams#roles',
  organization: 'teams',
  billing: 'billing',
  audit: 'teams#audit-log',
  account: 'teams#secure-your-account',
  operator: 'operating',
};

export function HelpLink() {
  const [location] = useLocation();
  const [params] = useSearchParams();
  const { url } = useApi();
  const segment = location.split('/')[1] ?? '';
  const page = HELP[`${segment} ${params.get('tab') ?? ''}`] ?? HELP[segment] ?? '';
  return (
    <Anchor href={new URL(`docs/${page}`, url).href} target="_blank" rel="noopener" size="sm">
      Help
    </Anchor>
  );
}
