/** Above a receiver that takes nothing in: how much it has refused, why, and what to look at. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Ago } from '../../parts/ago.tsx';
import { countText } from '../../parts/words.ts';
import { hintFor, isRefusing, reasonsText } from './refusals.ts';
import type { Receiver } from './senders.ts';

interface RefusedNoticeProps {
  readonly receiver: Receiver;
  /** Undefined: they may not change it. */
  readonly onNewSecret: (() => void) | undefined;
}

export function RefusedNotice({ receiver, onNewSecret }: RefusedNoticeProps) {
  const { refused } = receiver;
  const { total, last_at: at, last_reason: reason } = refused;
  if (reason === null || !isRefusing(receiver)) return null;
  return (
    <Alert color="yellow" icon={<IconAlertTriangle size={18} />} role="region" aria-label="Refused deliveries">
      <Group justify="space-between" gap="sm">
        <div className="culvert-notice-words">
          <Text size="sm" fw={600}>
            {countText(total)} refused: {reasonsText(refused)}, the last <Ago at={at} />
          </Text>
          <Text size="sm">{hintFor(reason, receiver)} Nothing of what is refused is kept.</Text>
        </div>
        {reason === 'signature_wrong' && onNewSecret !== undefined && (
          <Button variant="default" size="xs" className="culvert-touch" onClick={onNewSecret}>
            New secret
          </Button>
        )}
      </Group>
    </Alert>
  );
}
