/** The figures of this moment, and their last minutes as lines. */
import { Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { bytesText, countText, durationText, spanText } from '../../parts/format.ts';
import { useNow } from '../../parts/time/now.ts';
import { Panel } from '../../parts/panel.tsx';
import { figure, type Metrics } from './exposition.ts';
import { ratesOf, type Sample } from './history.ts';

interface NowPanelProps {
  readonly metrics: Metrics;
  readonly samples: readonly Sample[];
}

export function NowPanel({ metrics, samples }: NowPanelProps) {
  return (
    <Panel title="Now" about="Updates every three seconds. Charts show up to six minutes, while this page is open.">
      <Figures metrics={metrics} samples={samples} />
      <SimpleGrid cols={{ base: 2, lg: 3 }} spacing="sm">
        <Sparkline title="Event loop delay, p99" values={samples.map(({ loopMs }) => loopMs)} say={durationText} />
        <Sparkline title="Requests" values={ratesOf(samples, 'requests')} say={perSecond} />
        <Sparkline title="Traffic in and out" values={ratesOf(samples, 'bytes')} say={bytesPerSecond} />
        <Sparkline title="Visitor connections" values={samples.map(({ connections }) => connections)} say={countText} />
        <Sparkline title="Open streams" values={samples.map(({ streams }) => streams)} say={countText} />
        <Sparkline title="Process memory" values={samples.map(({ memory }) => memory)} say={bytesText} />
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
    ['Uptime', spanText(now - of('process_start_time_seconds') * 1000)],
    ['Agents', countText(of('agent_sessions'))],
    ['Tunnels served', countText(of('agent_tunnels'))],
    ['Private networks', countText(of('relays'))],
    ['Open sockets', countText(of('process_open_sockets'))],
    ['CPU', cpu === undefined ? '–' : `${Math.round(cpu * 100)} % of one core`],
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

interface SparklineProps {
  readonly title: string;
  readonly values: readonly number[];
  readonly say: (value: number) => string;
}

const WIDTH = 240;
const HEIGHT = 56;
/** For the width of the line, and a flat one at 0 is seen. */
const MARGIN = 2;
const GROUND = HEIGHT - MARGIN;
/** The line grows from the left until there are so many, and is then as wide as its card. */
const FIRST_ROOM = 20;

/** A small line of the latest values, with the last one in words beside its title. Drawn as an SVG of elements. */
function Sparkline({ title, values, say }: SparklineProps) {
  const top = Math.max(...values, 0);
  const last = values.at(-1) ?? 0;
  const words = `${title}: ${say(last)} now, maximum ${say(top)} while this page is open`;
  return (
    <Card withBorder padding="sm">
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Group justify="space-between" gap="xs" align="baseline">
        <Text size="sm" fw={600} className="culvert-number">
          {say(last)}
        </Text>
        <Text size="xs" c="dimmed" className="culvert-number">
          max {say(top)}
        </Text>
      </Group>
      <svg
        className="culvert-sparkline"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words}
      >
        <line
          className="culvert-sparkline-ground"
          x1={0}
          x2={WIDTH}
          y1={GROUND}
          y2={GROUND}
          vectorEffect="non-scaling-stroke"
        />
        <polyline points={pointsOf(values, top)} vectorEffect="non-scaling-stroke" />
      </svg>
    </Card>
  );
}

function pointsOf(values: readonly number[], top: number): string {
  const step = WIDTH / Math.max(FIRST_ROOM, values.length - 1);
  return values
    .map((value, index) => {
      const share = top === 0 ? 0 : value / top;
      return `${(index * step).toFixed(1)},${(GROUND - share * (HEIGHT - 2 * MARGIN)).toFixed(1)}`;
    })
    .join(' ');
}
