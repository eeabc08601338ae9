/** How to install Culvert on the machine in front of the user: the command for its system, or the page that says what to do. */
import { Anchor, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Downloads } from '../../api/types.ts';
import { CopyLine } from '../copy.tsx';
import { installFor } from './install-command.ts';

export function InstallLine() {
  const { client, url } = useApi();
  const list = useQuery({
    queryKey: ['downloads'],
    queryFn: ({ signal }) => answered<Downloads>(client.GET('/download/release.json', { signal })),
    staleTime: 60_000,
  });
  const page = new URL('download/', url).href;
  const here = list.data === undefined ? undefined : installFor(list.data, navigator.userAgent);
  return (
    <Stack gap={4}>
      <Text size="sm">Install the agent on this machine:</Text>
      {here?.command !== undefined && <CopyLine value={here.command} what="the command to install" />}
      <Text size="xs" c="dimmed">
        {here?.command === undefined && here !== undefined && `The server has no file for ${here.name} yet. `}
        <Anchor href={page} target="_blank" rel="noopener noreferrer" inherit underline="always">
          {here?.command === undefined ? 'Open the download page' : 'Other systems and checksums'}
        </Anchor>
      </Text>
    </Stack>
  );
}
