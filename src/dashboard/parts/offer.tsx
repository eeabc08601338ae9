/** A notice with an undo button. It disappears by itself, so the action must be available elsewhere too. */
import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { sayFailure } from './action.ts';

/** Long enough to read it and to reach the button by keyboard. */
const SHOWN_MS = 10_000;

interface Offer {
  /** What the button says: the action itself. */
  readonly action: string;
  /** What fails is said. */
  readonly run: () => Promise<unknown>;
}

export function sayWithOffer(message: string, { action, run }: Offer): void {
  const id = notifications.show({
    color: 'culvert',
    autoClose: SHOWN_MS,
    closeButtonProps: { 'aria-label': 'Dismiss' },
    message: (
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm" className="culvert-wrap">
          {message}
        </Text>
        <Button
          variant="subtle"
          size="compact-sm"
          className="culvert-fixed"
          onClick={() => {
            notifications.hide(id);
            run().catch(sayFailure);
          }}
        >
          {action}
        </Button>
      </Group>
    ),
  });
}
