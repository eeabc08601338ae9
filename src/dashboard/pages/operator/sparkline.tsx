/** A small line of the latest values, with the last one in words beside its title. Drawn as an SVG of elements. */
import { Card, Group, Text } from '@mantine/core';

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

export function Sparkline({ title, values, say }: SparklineProps) {
  const top = Math.max(...values, 0);
  const last = values.at(-1) ?? 0;
  const words = `${title}: ${say(last)} now, ${say(top)} at most while this page is open`;
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
          at most {say(top)}
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
