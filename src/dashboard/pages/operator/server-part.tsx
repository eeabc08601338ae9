/** How the server fares, asked every few seconds; what it was before is kept as long as the page is open, and nowhere else. */
import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { readMetrics } from './exposition.ts';
import { type Sample, sampleOf, withSample } from './history.ts';
import { AnsweredPanel } from './answered-panel.tsx';
import { DropsPanel } from './drops-panel.tsx';
import { JobsPanel } from './jobs-panel.tsx';
import { NowPanel } from './now-panel.tsx';
import { QueuesPanel } from './queues-panel.tsx';

const AGAIN_MS = 3000;

export function ServerPart() {
  const { client } = useApi();
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const metrics = useQuery({
    queryKey: ['superadmin', 'metrics'],
    queryFn: async ({ signal }) =>
      readMetrics(await answered(client.GET('/superadmin/metrics', { parseAs: 'text', signal }))),
    refetchInterval: AGAIN_MS,
    structuralSharing: false,
  });
  const edge = useQuery({
    queryKey: ['superadmin', 'edge'],
    queryFn: ({ signal }) => answered(client.GET('/superadmin/edge', { signal })),
    refetchInterval: AGAIN_MS,
  });
  const { data, dataUpdatedAt } = metrics;
  useEffect(() => {
    if (data !== undefined) setSamples((before) => withSample(before, sampleOf(data, dataUpdatedAt)));
  }, [data, dataUpdatedAt]);
  return (
    <Stack>
      <Loaded query={metrics} lines={6}>
        {(now) => <NowPanel metrics={now} samples={samples} />}
      </Loaded>
      <Loaded query={edge} lines={4}>
        {(counts) => (
          <>
            <DropsPanel edge={counts} />
            <AnsweredPanel edge={counts} />
          </>
        )}
      </Loaded>
      {data !== undefined && (
        <>
          <QueuesPanel metrics={data} />
          <JobsPanel metrics={data} />
        </>
      )}
    </Stack>
  );
}
