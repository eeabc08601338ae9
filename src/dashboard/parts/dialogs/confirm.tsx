/** Confirms an action that can't be undone or that cuts connections off. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { FailureAlert } from '../loaded.tsx';

interface ConfirmProps {
  /** As a question: "Delete the tunnel shop?" */
  readonly title: string;
  /** What happens then. */
  readonly children: ReactNode;
  /** What the button says: the action itself, not "OK". */
  readonly action: string;
  readonly opened: boolean;
  readonly isBusy: boolean;
  /** Why the last try failed. */
  readonly error?: unknown;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function Confirm({ title, children, action, opened, isBusy, error, onConfirm, onClose }: ConfirmProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {error !== undefined && error !== null && <FailureAlert error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red.8" loading={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
