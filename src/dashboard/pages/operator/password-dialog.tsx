/** A password that the server has made, shown this once. It is forgotten with the dialog, which no stray click closes. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { CopyLine } from '../../parts/copy.tsx';

interface PasswordDialogProps {
  readonly email: string;
  readonly password: string;
  readonly onClose: () => void;
}

export function PasswordDialog({ email, password, onClose }: PasswordDialogProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={`The password of ${email}`}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <CopyLine value={password} what="the password" />
        <Text size="sm">
          It can not be shown again. Give it to them in a safe way, and tell them to choose one of their own after the
          first log-in.
        </Text>
        <Group justify="flex-end">
          <Button onClick={onClose}>I have kept it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
