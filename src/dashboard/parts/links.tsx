/** Links: to a public URL, to the plans, to the documentation. */
import { Alert, Anchor, Text } from '@mantine/core';
import { IconSparkles } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useAccount, useApi } from '../api/context.tsx';

/** A public address that the server made: a link where browsers open it, else text. */
export function Outside({ url, size = 'xs' }: { readonly url: string; readonly size?: 'xs' | 'sm' | 'lg' }) {
  if (!/^https?:\/\//.test(url))
    return (
      <Text span size={size} c="dimmed" className="culvert-wrap">
        {url}
      </Text>
    );
  return (
    <Anchor href={url} target="_blank" rel="noopener noreferrer" size={size} className="culvert-wrap">
      {url}
    </Anchor>
  );
}

/** What the plan does not have, with the way to one that does. Where nothing is sold, that is the operator's to give. */
export function PlanLink({ children }: { readonly children: ReactNode }) {
  const { billing_mode: mode } = useAccount();
  return (
    <Alert color="culvert" variant="light" icon={<IconSparkles size={18} />}>
      {children}{' '}
      {mode === 'none' ? (
        'Ask an operator of this server for another plan.'
      ) : (
        <Anchor component={Link} href="/billing" inherit underline="always">
          See plans
        </Anchor>
      )}
    </Alert>
  );
}

/** First segment of the page's address, and its tab → page and section below `/docs/`. */
const HELP: Readonly<Record<string, string>> = {
  '': 'dashboard',
  tunnels: 'agents',
  'tunnels access-control': 'visitor-login',
  'tunnels policy': 'policies',
  'tunnels maintenance': 'basic-auth#show-a-maintenance-page',
  'tunnels recording': 'recording#mask-values',
  domains: 'domains#use-your-own-domain',
  names: 'domains#keep-a-name',
  networks: 'private-networks',
  inspector: 'inspector',
  connections: 'agents#check-the-state',
  webhooks: 'webhooks',
  alerts: 'alerts',
  keys: 'access-keys',
  projects: 'access-keys#projects',
  members: 'teams#roles',
  organization: 'teams',
  billing: 'billing',
  audit: 'teams#audit-log',
  export: 'export',
  account: 'teams#secure-your-account',
  operator: 'operating',
  'operator/instance': 'instance',
};

/** The link to the documentation that fits the page where the user is. */
export function HelpLink() {
  const [location] = useLocation();
  const [params] = useSearchParams();
  const { url } = useApi();
  const segment = location.split('/')[1] ?? '';
  const page = HELP[location.slice(1)] ?? HELP[`${segment} ${params.get('tab') ?? ''}`] ?? HELP[segment] ?? '';
  return (
    <Anchor href={new URL(`docs/${page}`, url).href} target="_blank" rel="noopener" size="sm">
      Help
    </Anchor>
  );
}
