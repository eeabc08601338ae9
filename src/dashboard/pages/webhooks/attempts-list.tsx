/** The attempts to forward a delivery, newest first: each with its result, and the response of the service when it is opened. */
import { Accordion, Code, Group, Stack, Text } from '@mantine/core';
import { Ago } from '../../parts/time/ago.tsx';
import { bytesText, countText, durationText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Section } from '../inspector/section.tsx';
import { visibleText } from '../inspector/visible-text.ts';
import { bodyText } from './attempt-labels.ts';
import { type Attempt, attemptResult, type Delivery } from './delivery-labels.ts';
import { useAttempts } from './receiver-queries.ts';

interface AttemptsProps {
  readonly receiverId: string;
  readonly delivery: Delivery;
}

export function Attempts({ receiverId, delivery }: AttemptsProps) {
  const attempts = useAttempts(receiverId, delivery);
  if (delivery.forward.state === 'none') return null;
  return (
    <Section title="Attempts">
      <Loaded query={attempts}>
        {(all) =>
          all.length === 0 ? (
            <Text size="sm" c="dimmed">
              No attempts yet. The delivery waits for earlier ones, or for the tunnel.
            </Text>
          ) : (
            <Accordion multiple variant="contained" order={4} defaultValue={failedFirst(all)}>
              {all.map((attempt) => (
                <Accordion.Item key={attempt.attempted_at} value={attempt.attempted_at}>
                  <Accordion.Control>
                    <Head attempt={attempt} />
                  </Accordion.Control>
                  <Accordion.Panel>
                    <Response attempt={attempt} />
                  </Accordion.Panel>
                </Accordion.Item>
              ))}
            </Accordion>
          )
        }
      </Loaded>
    </Section>
  );
}

/** What went wrong last is open from the start. */
function failedFirst([newest]: readonly Attempt[]): string[] {
  return newest === undefined || attemptResult(newest).tone === 'good' ? [] : [newest.attempted_at];
}

function Head({ attempt }: { readonly attempt: Attempt }) {
  const { tone, words } = attemptResult(attempt);
  return (
    <Group gap="sm">
      <StateBadge tone={tone}>{words}</StateBadge>
      <Text size="sm" c="dimmed">
        Attempt {countText(attempt.attempt)}, <Ago at={attempt.attempted_at} />, {durationText(attempt.duration_ms)}
      </Text>
    </Group>
  );
}

function Response({ attempt }: { readonly attempt: Attempt }) {
  const { response_body: body, response_size: size, response_content_type: type, error } = attempt;
  if (body === null)
    return (
      <Text size="sm" c="dimmed">
        {error === null
          ? size === 0
            ? 'The response has no body.'
            : 'The body was deleted to make room for newer ones.'
          : 'Your service sent no response.'}
      </Text>
    );
  const { text, isCut } = bodyText(body, size);
  return (
    <Stack gap={4}>
      <Text size="xs" c="dimmed">
        {visibleText(type ?? 'no type')}, {bytesText(size)}
        {isCut && '; the beginning:'}
      </Text>
      <Code block className="culvert-wrap" tabIndex={0}>
        {text}
      </Code>
    </Stack>
  );
}
