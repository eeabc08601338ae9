/** Who asked, when, through what; and why not, where it was refused. */
import { Alert, Anchor, Text } from '@mantine/core';
import { IconInfoCircle, IconShieldX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { bytesText, clockText, timeOf } from '../../parts/format.ts';
import type { Tunnels } from './tunnels.ts';
import { visibleText } from './visible-text.ts';
import { type Detail, partOf, reasonText, refuserOf, stepText, verdictText } from './messages.ts';

export function WhyNot({ detail, tunnels }: { readonly detail: Detail; readonly tunnels: Tunnels }) {
  if (detail.outcome === 'forwarded') return null;
  const step = refuserOf(detail);
  const part = partOf(detail);
  const tunnel = tunnels.find(detail.tunnel_id);
  const isRefused = detail.outcome === 'refused';
  return (
    <Alert
      color={isRefused ? 'yellow' : 'red'}
      variant="light"
      icon={isRefused ? <IconShieldX size={18} /> : <IconInfoCircle size={18} />}
    >
      <Text size="sm" fw={600}>
        {isRefused ? 'Why the edge answered by itself' : 'Why no whole answer came'}
      </Text>
      <Text size="sm" className="culvert-foreign">
        {reasonText(detail)}
        {step !== undefined && ` ${stepText(step)} ${verdictText(step)}.`}
      </Text>
      {part !== undefined && tunnel !== undefined && (
        <Anchor component={Link} href={`/tunnels/${tunnel.id}?tab=${part.tab}`} size="sm" underline="always">
          {part.words}
        </Anchor>
      )}
    </Alert>
  );
}

export function RequestFacts({ detail, tunnels }: { readonly detail: Detail; readonly tunnels: Tunnels }) {
  const { trace } = detail;
  const tunnel = tunnels.find(detail.tunnel_id);
  return (
    <dl className="culvert-facts">
      <Fact title="When">
        <time dateTime={detail.timestamp}>{clockText(timeOf(detail.timestamp))}</time>
      </Fact>
      <Fact title="Tunnel">
        {tunnel === undefined ? (
          tunnels.nameOf(detail.tunnel_id)
        ) : (
          <Anchor component={Link} href={`/tunnels/${tunnel.id}`} inherit underline="always">
            {tunnel.subdomain}
          </Anchor>
        )}
      </Fact>
      <Fact title="Visitor">{detail.remote_ip}</Fact>
      <Fact title="Host">
        <bdi>{visibleText(detail.host)}</bdi>
      </Fact>
      <Fact title="By">
        {trace.scheme}, HTTP/{detail.http_version}
        {trace.connection !== null && `, ${trace.connection} connection to the service`}
      </Fact>
      <Fact title="Bodies">
        {detail.outcome === 'refused'
          ? 'none passed on'
          : `${bytesText(detail.request_size)} in, ${bytesText(detail.response_size)} out`}
      </Fact>
      {detail.replay_of !== null && (
        <Fact title="Replay of">
          <Anchor component={Link} href={`/inspector/${detail.replay_of}`} inherit underline="always">
            the first request
          </Anchor>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}
