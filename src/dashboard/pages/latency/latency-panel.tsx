/** Latency and status classes over time, of a tunnel or of all tunnels. A dragged stretch opens its requests in the inspector. */
import { Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { Chart } from '../../parts/charts/chart.tsx';
import { WHOLE_STEPS } from '../../parts/charts/chart-axis.ts';
import { SeriesChart } from '../../parts/charts/series-chart.tsx';
import type { Selection } from '../../parts/charts/series.ts';
import { countText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { searchOf } from '../inspector/filters/filter.ts';
import { SPANS, type Window, WINDOWS } from '../overview/traffic.ts';
import {
  axisText,
  DURATION_STEPS,
  type Latency,
  type Part,
  PART_TITLES,
  PARTS,
  percentileSeries,
  percentilesText,
  startsOf,
  statusSeries,
  statusText,
} from './latency.ts';
import { useLatency } from './latency-query.ts';

/** `tunnelId`: of this one alone. */
export function LatencyPanel({ tunnelId }: { readonly tunnelId?: string }) {
  const [range, setRange] = useState<Window>('24h');
  const [part, setPart] = useState<Part>('first_byte');
  const query = useLatency(range, tunnelId);
  return (
    <Panel
      title="Latency and errors"
      actions={
        <Group gap="xs">
          <SegmentedControl
            value={part}
            onChange={setPart}
            data={PARTS.map((value) => ({ value, label: PART_TITLES[value] }))}
            aria-label="Part of the response"
          />
          <RangeControl range={range} onChange={setRange} />
        </Group>
      }
    >
      <Loaded query={query} lines={6}>
        {(shown) => <Drawn {...shown} part={part} tunnelId={tunnelId} />}
      </Loaded>
    </Panel>
  );
}

interface DrawnProps {
  readonly latency: Latency;
  readonly range: Window;
  readonly part: Part;
  readonly tunnelId: string | undefined;
}

function Drawn({ latency, range, part, tunnelId }: DrawnProps) {
  const [, navigate] = useLocation();
  const starts = useMemo(() => startsOf(latency), [latency]);
  const percentiles = useMemo(() => percentileSeries(latency, part), [latency, part]);
  const statuses = useMemo(() => statusSeries(latency), [latency]);
  if (latency.summary.count === 0)
    return (
      <Text size="sm" c="dimmed">
        No requests in the last {SPANS[range].words}. New ones appear within 15 seconds.
      </Text>
    );
  const open = ({ from, until }: Selection): void => {
    const between = { since: new Date(from).toISOString(), until: new Date(until).toISOString() };
    navigate(`/inspector?${searchOf({ ...(tunnelId === undefined ? {} : { tunnel: tunnelId }), ...between })}`);
  };
  const both = { starts, onPick: open };
  return (
    <Stack gap="md">
      <SeriesChart
        {...both}
        label={`Latency (${PART_TITLES[part].toLowerCase()})`}
        series={percentiles}
        say={axisText}
        steps={DURATION_STEPS}
        idle={percentilesText(latency, part, range)}
      />
      <SeriesChart
        {...both}
        label="Requests by status"
        isStacked
        series={statuses}
        say={countText}
        steps={WHOLE_STEPS}
        height={140}
        idle={statusText(latency, range)}
      />
      <Text size="xs" c="dimmed">
        Drag over a chart to see the requests of that time in the inspector.
      </Text>
    </Stack>
  );
}

/** Connections over time, for a tunnel without requests. */
export function ConnectionsChartPanel({ tunnelId }: { readonly tunnelId: string }) {
  const [range, setRange] = useState<Window>('24h');
  const query = useLatency(range, tunnelId);
  return (
    <Panel title="Connections" actions={<RangeControl range={range} onChange={setRange} />}>
      <Loaded query={query} lines={6}>
        {(shown) => <Connections {...shown} />}
      </Loaded>
    </Panel>
  );
}

function Connections({ latency, range }: Pick<DrawnProps, 'latency' | 'range'>) {
  const points = useMemo(
    () => latency.buckets.map(({ start, connections }) => ({ at: Date.parse(start), value: connections })),
    [latency],
  );
  const idle = `${countText(latency.summary.connections)} in the last ${SPANS[range].words}`;
  return <Chart label="Connections" points={points} say={countText} idle={idle} />;
}

function RangeControl({ range, onChange }: { readonly range: Window; readonly onChange: (range: Window) => void }) {
  return (
    <SegmentedControl
      value={range}
      onChange={onChange}
      data={WINDOWS.map((value) => ({ value, label: SPANS[value].title }))}
      aria-label="Time range"
    />
  );
}
