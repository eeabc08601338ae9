/** A password that the server has made, shown this once. It is forgotten with the dialog, which no stray click closes. */
import { Text } from '@mantine/core';
import { CopyLine } from '../../parts/copy.tsx';
import { OneTimeSecret, OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';

interface PasswordDialogProps {
  readonly email: string;
  readonly password: string;
  readonly onClose: () => void;
}

export function PasswordDialog({ email, password, onClose }: PasswordDialogProps) {
  return (
    <OneTimeSecretModal opened onClose={onClose} title={`Password for ${email}`}>
      <IssuedPassword email={email} password={password} />
    </OneTimeSecretModal>
  );
}

/** In a `OneTimeSecretModal`. */
export function IssuedPassword({ email, password }: Omit<PasswordDialogProps, 'onClose'>) {
  return (
    <OneTimeSecret label={`Password for ${email}, shown once`}>
      <CopyLine value={password} what="the password" />
      <Text size="sm">
        Copy it now. You won&apos;t see it again. Send it over a secure channel, and ask the user to change it after the
        first login.
      </Text>
    </OneTimeSecret>
  );
}
