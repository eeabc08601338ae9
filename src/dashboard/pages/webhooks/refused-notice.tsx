/** Above a receiver that has refused what came last: how much, why, and what to look at. Calm where it has worked and little was refused since. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Ago } from '../../parts/ago.tsx';
import { countText } from '../../parts/format.ts';
import {
  hasWorked,
  hintFor,
  isAlarming,
  isRefusing,
  reasonsText,
  refusedSince,
  strayHintFor,
  wordsOf,
} from './refusals.ts';
import type { Receiver } from './senders.ts';

interface RefusedNoticeProps {
  readonly receiver: Receiver;
  /** Undefined: they may not change it. */
  readonly onNewSecret: (() => void) | undefined;
}

export function RefusedNotice({ receiver, onNewSecret }: RefusedNoticeProps) {
  const { refused } = receiver;
  const { last_at: at, last_reason: reason } = refused;
  if (reason === null || !isRefusing(receiver)) return null;
  const worked = hasWorked(receiver);
  const count = countText(refusedSince(receiver));
  return (
    <Alert
      color={isAlarming(receiver) ? 'yellow' : 'gray'}
      icon={<IconAlertTriangle size={18} />}
      role="region"
      aria-label="Refused deliveries"
    >
      <Group justify="space-between" gap="sm">
        <div className="culvert-notice-words">
          <Text size="sm" fw={600}>
            {worked
              ? `${count} refused since the last good delivery: ${wordsOf(reason)}, `
              : `${count} refused: ${reasonsText(refused)}, the last `}
            <Ago at={at} />
          </Text>
          <Text size="sm">
            {worked ? strayHintFor(reason, receiver) : hintFor(reason, receiver)} Nothing of what is refused is kept.
          </Text>
        </div>
        {!worked && reason === 'signature_wrong' && onNewSecret !== undefined && (
          <Button variant="default" size="xs" className="culvert-touch" onClick={onNewSecret}>
            New secret
          </Button>
        )}
      </Group>
    </Alert>
  );
}
