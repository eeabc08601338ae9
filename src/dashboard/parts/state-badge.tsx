/** One word about how something stands, with a colour that is never the only sign. */
import { Badge } from '@mantine/core';
import type { Tone } from './tone.ts';

export type { Tone } from './tone.ts';

const COLORS: Readonly<Record<Tone, string>> = {
  good: 'culvert.8',
  bad: 'red.9',
  warn: 'yellow.4',
  quiet: 'gray.7',
  info: 'blue.9',
};

export function StateBadge({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <Badge variant="filled" color={COLORS[tone]} tt="none" fw={500} className="culvert-badge">
      {children}
    </Badge>
  );
}
