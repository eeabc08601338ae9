/** What a tunnel has carried since it was made. */
import { Stack, Text } from '@mantine/core';
import type { Tunnel } from '../../api/types.ts';
import { bytesText, countText } from '../../parts/format.ts';

type Counted = Pick<Tunnel, 'protocol' | 'totalRequests' | 'bytesIn' | 'bytesOut'>;

/** Of a tcp tunnel connections are counted. */
export function countedAs(protocol: Tunnel['protocol'], count = 0): string {
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
