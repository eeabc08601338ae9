/** The state of the server, polled every few seconds. History is kept only while the page is open. */
import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { type Metrics, readMetrics } from './exposition.ts';
import { type Sample, sampleOf, withSample } from './history.ts';
import { AnsweredPanel, DropsPanel, JobsPanel, QueuesPanel } from './server-panels.tsx';
import { HealthPanel } from './health-panel.tsx';
import { NowPanel } from './now-panel.tsx';

const AGAIN_MS = 3000;

interface Watched {
  readonly metrics: Metrics;
  readonly samples: readonly Sample[];
}

export function ServerPart() {
  const { client } = useApi();
  const watched = useQuery({
    queryKey: ['superadmin', 'metrics'],
    queryFn: async ({ signal, client: queries, queryKey }): Promise<Watched> => {
      const metrics = readMetrics(await answered(client.GET('/superadmin/metrics', { parseAs: 'text', signal })));
      const before = queries.getQueryData<Watched>(queryKey)?.samples ?? [];
      return { metrics, samples: withSample(before, sampleOf(metrics, Date.now())) };
    },
    refetchInterval: AGAIN_MS,
    structuralSharing: false,
  });
  const edge = useQuery({
    queryKey: ['superadmin', 'edge'],
    queryFn: ({ signal }) => answered(client.GET('/superadmin/edge', { signal })),
    refetchInterval: AGAIN_MS,
  });
  const health = useQuery({
    queryKey: ['superadmin', 'health'],
    queryFn: ({ signal }) => answered(client.GET('/superadmin/health', { signal })),
    refetchInterval: AGAIN_MS,
  });
  return (
    <Stack>
      <Loaded query={health} lines={6}>
        {(data) => <HealthPanel health={data} />}
      </Loaded>
      <Loaded query={watched} lines={6}>
        {({ metrics, samples }) => <NowPanel metrics={metrics} samples={samples} />}
      </Loaded>
      <Loaded query={edge} lines={4}>
        {(counts) => (
          <>
            <DropsPanel edge={counts} />
            <AnsweredPanel edge={counts} />
          </>
        )}
      </Loaded>
      {watched.data !== undefined && (
        <>
          <QueuesPanel metrics={watched.data.metrics} />
          <JobsPanel metrics={watched.data.metrics} />
        </>
      )}
    </Stack>
  );
}
