/** Where the time of a request went: a bar, and the same in words. */
import { Text } from '@mantine/core';
import { durationText } from '../../parts/format.ts';
import { Section } from './section.tsx';
import { type Detail, timingOf } from './messages.ts';

export function TimingBar({ detail }: { readonly detail: Detail }) {
  const parts = timingOf(detail);
  const all = parts.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <Section title="Timing" actions={<Text size="sm">{durationText(detail.latency_ms)} in all</Text>}>
      <div className="culvert-timing" aria-hidden="true">
        {parts.map(({ key, ms }) => (
          <div key={key} data-part={key} style={{ flexGrow: all > 0 ? ms / all : 1 }} />
        ))}
      </div>
      <dl className="culvert-timing-words">
        {parts.map(({ key, title, ms }) => (
          <div key={key} data-part={key}>
            <dt>{title}</dt>
            <dd>{durationText(ms)}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
