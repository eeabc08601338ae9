/** What is wrong with a receiver now: why nothing comes, and what holds up its queue. */
import { Alert, Anchor, List, Text } from '@mantine/core';
import { IconAlertTriangle, IconPlugConnectedX } from '@tabler/icons-react';
import { Countdown } from '../../parts/time/countdown.tsx';
import { countText } from '../../parts/format.ts';
import { answerText } from './delivery-labels.ts';
import type { Receiver } from './senders.ts';

export function WarningNotice({ receiver: { warnings } }: { readonly receiver: Receiver }) {
  const [only] = warnings;
  if (only === undefined) return null;
  return (
    <Alert color="yellow" icon={<IconPlugConnectedX size={18} />} role="region" aria-label="Warnings">
      {warnings.length === 1 ? (
        <Text size="sm">{only.message}</Text>
      ) : (
        <List size="sm" spacing={4}>
          {warnings.map(({ code, message }) => (
            <List.Item key={code}>{message}</List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}

interface FailingNoticeProps {
  readonly receiver: Receiver;
  readonly onOpen: (id: string) => void;
}

/** The delivery at the front of the queue fails: the others wait for it. */
export function FailingNotice({ receiver: { failing, waiting }, onOpen }: FailingNoticeProps) {
  if (failing === null) return null;
  const others = waiting - 1;
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} role="region" aria-label="Failing delivery">
      <Text size="sm" fw={600}>
        Forwarding fails: {answerText(failing)}
      </Text>
      <Text size="sm">
        {failing.attempts === 1 ? '1 attempt' : `${countText(failing.attempts)} attempts`}, the next one{' '}
        <Countdown at={failing.next_attempt_at} />.{' '}
        {others > 0 && `${countText(others)} more ${others === 1 ? 'delivery waits' : 'deliveries wait'} behind it. `}
        <Anchor component="button" type="button" inherit underline="always" onClick={() => onOpen(failing.event_id)}>
          Open delivery
        </Anchor>
      </Text>
    </Alert>
  );
}
