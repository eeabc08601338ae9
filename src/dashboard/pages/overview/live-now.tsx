/** The first tunnel works: its address, its first request, and where to go from here. */
import { Button, Card, Group, Loader, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { Tunnel } from '../../api/types.ts';
import { CopyIcon } from '../../parts/copy.tsx';
import { Outside } from '../../parts/links.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { durationText } from '../../parts/format.ts';
import { visiblePath } from '../inspector/visible-text.ts';
import { useLatestRequests, WAITING_MS } from './overview-queries.ts';
import { statusTone, statusWord } from './status.ts';

interface LiveNowProps {
  readonly tunnel: Tunnel;
  readonly onDone: () => void;
}

export function LiveNow({ tunnel, onDone }: LiveNowProps) {
  const { id, publicUrl, protocol, localPort } = tunnel;
  const heading = useRef<HTMLHeadingElement>(null);
  // What had the keyboard's place has just gone.
  useEffect(() => heading.current?.focus(), []);
  return (
    <Card withBorder component="section" aria-label="Your tunnel is live" padding="lg">
      <Stack gap="md">
        <Group gap="sm" wrap="nowrap">
          <ThemeIcon size={28} radius="xl" variant="filled" aria-hidden>
            <IconCheck size={16} />
          </ThemeIcon>
          <Title order={2} size="h5" ref={heading} tabIndex={-1} className="culvert-quiet">
            Your tunnel is live
          </Title>
        </Group>
        <div>
          <Group gap="xs" wrap="nowrap">
            <Outside url={publicUrl} size="lg" />
            <CopyIcon value={publicUrl} what="the URL" />
          </Group>
          <Text size="sm" c="dimmed">
            This URL forwards to port {localPort} on that machine.
          </Text>
        </div>
        {protocol !== 'tcp' && <FirstRequest tunnel={tunnel} />}
        <Group gap="xs">
          <Button onClick={onDone}>Open overview</Button>
          <Button variant="default" component={Link} href={`/tunnels/${id}`}>
            Open tunnel
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}

function FirstRequest({ tunnel: { id, totalRequests } }: { readonly tunnel: Tunnel }) {
  const latest = useLatestRequests(1, id, WAITING_MS).data?.[0];
  if (latest === undefined && totalRequests === 0)
    return (
      <Group gap="sm" wrap="nowrap">
        <Loader size="sm" type="dots" aria-hidden />
        <Text size="sm">Open the URL. Your first request appears here.</Text>
      </Group>
    );
  if (latest === undefined) return <Text size="sm">First request received.</Text>;
  const { method, path, status, outcome, latency_ms: latencyMs } = latest;
  return (
    <Group gap="xs" wrap="nowrap">
      <StateBadge tone={statusTone(status, outcome)}>{statusWord(status)}</StateBadge>
      <Text size="sm" className="culvert-mono culvert-line">
        {method} <bdi>{visiblePath(path)}</bdi>
      </Text>
      <Text size="sm" c="dimmed" className="culvert-fixed">
        {durationText(latencyMs)}
      </Text>
      <Button variant="subtle" size="compact-sm" component={Link} href={`/inspector/${latest.id}`}>
        Inspect request
      </Button>
    </Group>
  );
}
