/** The choice of a domain's tunnel. */
import { Anchor, Button, Group, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Tunnel } from '../../api/types.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { undoOf } from '../../parts/undo/undo.ts';
import { DOMAINS } from './domain-query.ts';
import type { Domain } from './domain-state.ts';

interface BindStepProps {
  readonly domain: Domain;
  /** Undefined: it is not known which there are. */
  readonly tunnels: readonly Tunnel[] | undefined;
  readonly bound: Tunnel | undefined;
}

export function BindStep({ domain, tunnels, bound }: BindStepProps) {
  const mayChange = useMay('member');
  if (!domain.verified)
    return (
      <Text size="sm" c="dimmed">
        Available after verification.
      </Text>
    );
  return (
    <>
      {domain.boundTunnelId !== null && (
        <Text size="sm">
          Served by{' '}
          <Anchor component={Link} href={`/tunnels/${domain.boundTunnelId}`} inherit fw={600}>
            {bound?.subdomain ?? 'a tunnel'}
          </Anchor>
          {bound !== undefined && !bound.online && ', which is offline'}.
        </Text>
      )}
      {mayChange && <Choice domain={domain} tunnels={tunnels} />}
    </>
  );
}

/** Binds a domain to a tunnel, or to none, and how that is undone. */
function useBinding(before: Domain) {
  const { client } = useApi();
  const { id, boundTunnelId: former } = before;
  const params = { path: { id } };
  const put = (tunnelId: string | null) =>
    answered(
      tunnelId === null
        ? client.DELETE('/domains/{id}/bind', { params })
        : client.PUT('/domains/{id}/bind', { params, body: { tunnel_id: tunnelId } }),
    );
  const read = async () => (await answered(client.GET('/domains'))).find((one) => one.id === id);
  const undo = (after: Pick<Domain, 'boundTunnelId'>) =>
    undoOf({ before, after, fields: ['boundTunnelId'], read, write: () => put(former) });
  return { put, undo };
}

function Choice({ domain, tunnels }: Omit<BindStepProps, 'bound'>) {
  const [tunnel, setTunnel] = useState<string | null>(null);
  const [asks, setAsks] = useState(false);
  const touches = [DOMAINS, ['tunnels']];
  const { put, undo } = useBinding(domain);
  const bind = useAction({
    run: (tunnelId: string) => put(tunnelId),
    done: `${domain.domain} bound.`,
    undo,
    touches,
    onDone: () => setTunnel(null),
  });
  const unbind = useAction({
    run: () => put(null),
    done: `${domain.domain} unbound.`,
    undo,
    touches,
    onDone: () => setAsks(false),
    tellsFailure: true,
  });
  // One of TCP has a port and no host.
  const able = (tunnels ?? []).filter(({ protocol, id }) => protocol !== 'tcp' && id !== domain.boundTunnelId);
  const isBound = domain.boundTunnelId !== null;
  if (tunnels === undefined && !isBound) return null;
  if (able.length === 0 && !isBound)
    return (
      <Text size="sm" c="dimmed">
        You have no tunnel for this domain yet. Create one under{' '}
        <Anchor component={Link} href="/tunnels" inherit>
          Tunnels
        </Anchor>
        .
      </Text>
    );
  return (
    <Group gap="xs">
      {able.length > 0 && (
        <>
          <Select
            aria-label={`Tunnel for ${domain.domain}`}
            placeholder={isBound ? 'Another tunnel' : 'Choose a tunnel'}
            data={able.map(({ id, subdomain }) => ({ value: id, label: subdomain }))}
            value={tunnel}
            onChange={setTunnel}
            searchable
            nothingFoundMessage="No tunnels found"
          />
          <Button
            variant="default"
            disabled={tunnel === null}
            loading={bind.isPending}
            onClick={() => tunnel !== null && bind.mutate(tunnel)}
          >
            {isBound ? 'Change tunnel' : 'Bind tunnel'}
          </Button>
        </>
      )}
      {isBound && (
        <Button variant="default" onClick={() => setAsks(true)}>
          Unbind
        </Button>
      )}
      <Confirm
        title={`Unbind ${domain.domain}?`}
        action="Unbind domain"
        opened={asks}
        isBusy={unbind.isPending}
        error={unbind.error}
        onConfirm={() => unbind.mutate()}
        onClose={() => {
          unbind.reset();
          setAsks(false);
        }}
      >
        Applies immediately: visitors get an error page. The domain stays verified.
      </Confirm>
    </Group>
  );
}
