/** A password that the server has made, shown this once. It is forgotten with the dialog, which no stray click closes. */
import { Text } from '@mantine/core';
import { CopyLine } from '../../parts/copy.tsx';
import { Once, OnceModal } from '../../parts/once.tsx';

interface PasswordDialogProps {
  readonly email: string;
  readonly password: string;
  readonly onClose: () => void;
}

export function PasswordDialog({ email, password, onClose }: PasswordDialogProps) {
  return (
    <OnceModal opened onClose={onClose} title={`The password of ${email}`}>
      <PasswordOnce email={email} password={password} />
    </OnceModal>
  );
}

/** In a `OnceModal`. */
export function PasswordOnce({ email, password }: Omit<PasswordDialogProps, 'onClose'>) {
  return (
    <Once label={`The password of ${email}, shown only now`}>
      <CopyLine value={password} what="the password" />
      <Text size="sm">
        It is shown only now. Give it to them in a safe way, and tell them to choose one of their own after the first
        log-in.
      </Text>
    </Once>
  );
}
