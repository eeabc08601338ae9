/** Traffic of the organization over time. */
import { Group, SegmentedControl } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { Chart } from '../../parts/charts/chart.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { timeOf } from '../../parts/format.ts';
import { type Metric, METRICS, SPANS, TOLD, totalText, type Window, WINDOWS } from './traffic.ts';

interface Series {
  readonly metric: Metric;
  readonly window: Window;
  readonly values: ReadonlyArray<{ readonly timestamp: string; readonly value: number }>;
}

export function TrafficPanel() {
  const [metric, setMetric] = useState<Metric>('requests');
  const [window, setWindow] = useState<Window>('24h');
  const query = useSeries(metric, window);
  return (
    <Panel
      title="Traffic"
      actions={
        <Group gap="xs">
          <SegmentedControl
            value={metric}
            onChange={setMetric}
            data={METRICS.map((value) => ({ value, label: TOLD[value].title }))}
            aria-label="Metric"
          />
          <SegmentedControl
            value={window}
            onChange={setWindow}
            data={WINDOWS.map((value) => ({ value, label: SPANS[value].title }))}
            aria-label="Time range"
          />
        </Group>
      }
    >
      <Loaded query={query} lines={6}>
        {(series) => <Drawn {...series} />}
      </Loaded>
    </Panel>
  );
}

/** What was shown stays until the other is there: its own metric and window are with it. */
export function useSeries(metric: Metric, window: Window) {
  const { client } = useApi();
  return useQuery({
    queryKey: ['metrics', 'timeseries', metric, window],
    queryFn: async ({ signal }): Promise<Series> => {
      const values = await answered(
        client.GET('/metrics/timeseries', { params: { query: { metric, window } }, signal }),
      );
      return { metric, window, values };
    },
    placeholderData: keepPreviousData,
    refetchInterval: SPANS[window].everyMs,
  });
}

function Drawn({ metric, window, values }: Series) {
  const points = useMemo(() => values.map(({ timestamp, value }) => ({ at: timeOf(timestamp), value })), [values]);
  const { label, say } = TOLD[metric];
  const idle = totalText(
    metric,
    window,
    values.map(({ value }) => value),
  );
  return <Chart label={label} points={points} say={say} idle={idle} />;
}
