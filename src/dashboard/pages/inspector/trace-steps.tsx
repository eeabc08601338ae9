/** What was asked before the request was passed on, step by step, and what each step said. */
import { Text } from '@mantine/core';
import { StateBadge } from '../../parts/state-badge.tsx';
import { numbered } from './numbered.ts';
import { Section } from './section.tsx';
import { type Detail, reasonText, stepText, toneOf, decisionText, verdictText, verdictTone } from './messages.ts';

const SIGNS = { passed: 'passed', refused: 'refused', would_refuse: 'tried', beside: 'tried' } as const;

export function TraceSteps({ detail }: { readonly detail: Detail }) {
  const { trace } = detail;
  return (
    <Section title="Decision">
      <ol className="culvert-steps">
        {numbered(trace.steps).map(({ at, row: step }) => (
          <li key={at}>
            <StateBadge tone={verdictTone(step.verdict)}>{SIGNS[step.verdict]}</StateBadge>
            <Text size="sm" className="culvert-foreign">
              <b>{stepText(step)}</b> {verdictText(step)}
            </Text>
          </li>
        ))}
        <li>
          <StateBadge tone={toneOf(trace.outcome)}>{decisionText(trace)}</StateBadge>
          <Text size="sm">
            {trace.steps.length === 0 && 'No policy and no gate were asked. '}
            {reasonText(trace)}
            {trace.retried && ' A kept connection to the service turned out to be closed: it was sent once more.'}
          </Text>
        </li>
      </ol>
    </Section>
  );
}
