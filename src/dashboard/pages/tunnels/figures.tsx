/** A tunnel in four figures: what it carried, and how long it lives yet. */
import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMay } from '../../api/context.tsx';
import type { Tunnel } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { Figure } from '../../parts/charts/figure.tsx';
import { bytesText, countText, minuteText, timeOf } from '../../parts/format.ts';
import type { TunnelDetail } from './tunnel-queries.ts';
import { isShut } from './tunnel-state.ts';
import { useStart } from './use-tunnel-actions.ts';

interface FiguresProps {
  readonly tunnel: TunnelDetail;
  /** Unix milliseconds. */
  readonly now: number;
}

export function Figures({ tunnel, now }: FiguresProps) {
  const { protocol, totalRequests, bytesIn, bytesOut, createdAt } = tunnel;
  const noun = countedAs(protocol);
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
      <Figure title={`${noun.charAt(0).toUpperCase()}${noun.slice(1)}`} value={countText(totalRequests)}>
        since creation <Ago at={createdAt} />
      </Figure>
      <Figure title="In" value={bytesText(bytesIn)}>
        from visitors
      </Figure>
      <Figure title="Out" value={bytesText(bytesOut)}>
        to visitors
      </Figure>
      <Ends tunnel={tunnel} now={now} />
    </SimpleGrid>
  );
}

function Ends({ tunnel, now }: FiguresProps) {
  const start = useStart();
  const mayChange = useMay('member');
  const { expiresAt } = tunnel;
  if (expiresAt === null)
    return (
      <Figure title="Expires" value="Never">
        until it is stopped or deleted
      </Figure>
    );
  return (
    <Figure title="Expires" value={<Ago at={expiresAt} />}>
      <Group gap="xs" justify="space-between" component="span">
        {minuteText(timeOf(expiresAt))}
        {mayChange && !isShut(tunnel, now) && (
          <Button
            variant="light"
            size="compact-sm"
            loading={start.isPending}
            onClick={() => start.mutate(tunnel)}
            title="Restarts its lifetime without interrupting visitors"
          >
            Extend
          </Button>
        )}
      </Group>
    </Figure>
  );
}

type Counted = Pick<Tunnel, 'protocol' | 'totalRequests' | 'bytesIn' | 'bytesOut'>;

/** Of a tcp tunnel connections are counted. */
function countedAs(protocol: Tunnel['protocol'], count = 0): string {
  const noun = protocol === 'tcp' ? 'connection' : 'request';
  return count === 1 ? noun : `${noun}s`;
}

export function Traffic({ tunnel }: { readonly tunnel: Counted }) {
  const { protocol, totalRequests, bytesIn, bytesOut } = tunnel;
  return (
    <Stack gap={0} className="culvert-fixed culvert-number">
      <Text size="sm">
        {countText(totalRequests)} {countedAs(protocol, totalRequests)}
      </Text>
      <Text size="xs" c="dimmed">
        {bytesText(bytesIn)} in, {bytesText(bytesOut)} out
      </Text>
    </Stack>
  );
}
