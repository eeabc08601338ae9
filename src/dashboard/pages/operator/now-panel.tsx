/** The figures of this moment, and their last minutes as lines. */
import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useNow } from '../../parts/now.ts';
import { Panel } from '../../parts/panel.tsx';
import { bytesText, countText, durationText, spanText } from '../../parts/format.ts';
import { figure, type Metrics } from './exposition.ts';
import { ratesOf, type Sample } from './history.ts';
import { Sparkline } from './sparkline.tsx';

interface NowPanelProps {
  readonly metrics: Metrics;
  readonly samples: readonly Sample[];
}

export function NowPanel({ metrics, samples }: NowPanelProps) {
  return (
    <Panel title="Now" about="Asked every three seconds while this page is open; lines go back six minutes at most.">
      <Figures metrics={metrics} samples={samples} />
      <SimpleGrid cols={{ base: 2, lg: 3 }} spacing="sm">
        <Sparkline title="Event loop delay, p99" values={samples.map(({ loopMs }) => loopMs)} say={durationText} />
        <Sparkline title="Requests" values={ratesOf(samples, 'requests')} say={perSecond} />
        <Sparkline title="Traffic, both ways" values={ratesOf(samples, 'bytes')} say={bytesPerSecond} />
        <Sparkline
          title="Connections of visitors"
          values={samples.map(({ connections }) => connections)}
          say={countText}
        />
        <Sparkline title="Open streams" values={samples.map(({ streams }) => streams)} say={countText} />
        <Sparkline title="Memory of the process" values={samples.map(({ memory }) => memory)} say={bytesText} />
      </SimpleGrid>
    </Panel>
  );
}

/** How often the uptime is said anew. */
const TICK_MS = 10_000;

function Figures({ metrics, samples }: NowPanelProps) {
  const now = useNow(TICK_MS);
  const of = (name: string): number => figure(metrics, `culvert_${name}`);
  const cpu = ratesOf(samples, 'cpuSeconds').at(-1);
  const figures = [
    ['Version', metrics.get('culvert_build_info')?.[0]?.labels['version'] ?? '–'],
    ['Up for', spanText(now - of('process_start_time_seconds') * 1000)],
    ['Agents', countText(of('agent_sessions'))],
    ['Tunnels served', countText(of('agent_tunnels'))],
    ['Private networks', countText(of('relays'))],
    ['Open sockets', countText(of('process_open_sockets'))],
    ['Processor', cpu === undefined ? '–' : `${Math.round(cpu * 100)} % of one core`],
    ['Database', bytesText(of('database_bytes'))],
  ] as const;
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="md" verticalSpacing="xs">
      {figures.map(([title, value]) => (
        <Stack key={title} gap={0}>
          <Text size="xs" c="dimmed">
            {title}
          </Text>
          <Text size="sm" className="culvert-number">
            {value}
          </Text>
        </Stack>
      ))}
    </SimpleGrid>
  );
}

function perSecond(value: number): string {
  return `${value < 10 ? value.toFixed(1) : countText(Math.round(value))}/s`;
}

function bytesPerSecond(value: number): string {
  return `${bytesText(value)}/s`;
}
