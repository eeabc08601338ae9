/** The forms of the second factor: enrol, renew recovery codes, disable. */
import { Alert, Button, Center, Group, List, Loader, SegmentedControl, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCheck, IconCopy, IconKey } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { sayNews, useAction } from '../../parts/action.ts';
import { CopyLine, useCopy } from '../../parts/copy.tsx';
import { DownloadButton } from '../../parts/download.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { OneTimeSecret } from '../../parts/dialogs/one-time-secret.tsx';
import { QrCode } from '../../parts/qr-code.tsx';
import { CodeField, PasswordField } from '../auth/fields.tsx';

/** Sets up an authenticator app: its secret as a picture and as text, the code that proves it, then the recovery codes. All of it in memory only. */
export function EnrolForm({ onClose }: { readonly onClose: () => void }) {
  const { client } = useApi();
  const [enrolled, setEnrolled] = useState<Schemas['MfaEnrollment']>();
  const [codes, setCodes] = useState<readonly string[]>();
  const enrol = useAction({
    // Kept in this dialog and not as the result of an action, which is remembered for a while.
    run: async () => setEnrolled(await answered(client.POST('/auth/mfa/enroll'))),
    tellsFailure: true,
  });
  const begun = useRef(false);
  const { mutate } = enrol;
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    mutate();
  }, [mutate]);
  if (codes !== undefined) return <RecoveryCodes codes={codes} />;
  if (enrol.isError) return <FailureAlert error={enrol.error} again={() => enrol.mutate()} />;
  if (enrolled === undefined)
    return (
      <Center mih={240}>
        <Loader aria-label="Loading" />
      </Center>
    );
  return <ConfirmForm enrolled={enrolled} onConfirmed={setCodes} onClose={onClose} />;
}

interface ConfirmFormProps {
  readonly enrolled: Schemas['MfaEnrollment'];
  readonly onConfirmed: (recoveryCodes: readonly string[]) => void;
  readonly onClose: () => void;
}

function ConfirmForm({ enrolled, onConfirmed, onClose }: ConfirmFormProps) {
  const { client } = useApi();
  const form = useForm({ initialValues: { code: '' } });
  const confirm = useAction({
    run: async ({ code }: { code: string }) => {
      const body = { code: code.replaceAll(' ', '') };
      onConfirmed((await answered(client.POST('/auth/mfa/enroll/verify', { body }))).recovery_codes);
    },
    touches: [['me']],
    tellsFailure: true,
  });
  const save = (values: { code: string }): void =>
    confirm.mutate(values, { onError: (error) => sayAt(form, 'code', error) });
  return (
    <form method="post" onSubmit={form.onSubmit(save)}>
      <Stack>
        <Text size="sm">Scan the code with an authenticator app, or type the secret into the app.</Text>
        <Center>
          <QrCode text={enrolled.otpauth_uri} label="QR code of the secret, which is below as text" size={208} />
        </Center>
        <CopyLine value={enrolled.secret_base32} what="the secret" />
        <CodeField
          size="sm"
          label="Code from the app"
          description="A correct code turns on two-factor authentication. You have 10 minutes."
          {...form.getInputProps('code')}
        />
        <FormEnd action="Turn on" isBusy={confirm.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

/** Ten new recovery codes in the place of all earlier ones. */
export function RenewForm({ onClose }: { readonly onClose: () => void }) {
  const { client } = useApi();
  const [codes, setCodes] = useState<readonly string[]>();
  const form = useForm({ initialValues: { password: '' } });
  const renew = useAction({
    run: async (body: { password: string }) =>
      setCodes((await answered(client.POST('/auth/mfa/recovery-codes', { body }))).recovery_codes),
    touches: [['me']],
    tellsFailure: true,
  });
  if (codes !== undefined) return <RecoveryCodes codes={codes} />;
  const save = (values: { password: string }): void =>
    renew.mutate(values, { onError: (error) => sayAt(form, 'password', error) });
  return (
    <form method="post" onSubmit={form.onSubmit(save)}>
      <Stack>
        <Text size="sm">You get ten new codes. Earlier codes stop working.</Text>
        <PasswordField size="sm" autoComplete="current-password" data-autofocus {...form.getInputProps('password')} />
        <FormEnd action="Create codes" isBusy={renew.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

const PROOFS = [
  { value: 'password', label: 'Password' },
  { value: 'recovery_code', label: 'Recovery code' },
];

/** Turns the second factor off, by the password or, for accounts without one, by a recovery code. */
export function DisableForm({ onClose }: { readonly onClose: () => void }) {
  const { client } = useApi();
  const [proof, setProof] = useState('password');
  const form = useForm({ initialValues: { password: '', recovery_code: '' } });
  const isPassword = proof === 'password';
  const disable = useAction({
    run: ({ password, recovery_code }: { password: string; recovery_code: string }) =>
      answered(client.POST('/auth/mfa/disable', { body: isPassword ? { password } : { recovery_code } })),
    done: 'Two-factor authentication turned off.',
    touches: [['me']],
    onDone: onClose,
    tellsFailure: true,
  });
  return (
    <form
      method="post"
      onSubmit={form.onSubmit((values) => disable.mutate(values, { onError: (error) => sayAt(form, proof, error) }))}
    >
      <Stack>
        <Text size="sm">
          You then log in with only your password. Codes from the app and recovery codes stop working.
        </Text>
        <SegmentedControl fullWidth data={PROOFS} value={proof} onChange={setProof} aria-label="Confirm with" />
        {isPassword ? (
          <PasswordField size="sm" autoComplete="current-password" data-autofocus {...form.getInputProps('password')} />
        ) : (
          <CodeField
            size="sm"
            label="One of your recovery codes"
            inputMode="text"
            {...form.getInputProps('recovery_code')}
          />
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red.8" loading={disable.isPending}>
            Turn off
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Recovery codes, shown this once. In a `OneTimeSecretModal`. */
function RecoveryCodes({ codes }: { readonly codes: readonly string[] }) {
  const text = `${codes.join('\n')}\n`;
  const { isCopied, copy } = useCopy(() => sayNews('The browser blocked copying. Save the codes as a file.'));
  return (
    <OneTimeSecret label="Recovery codes, shown once">
      <Alert color="yellow" variant="light" icon={<IconKey size={18} />} role="status">
        Store these recovery codes with your passwords. You won&apos;t see them again. Each works once, instead of a
        code from the app.
      </Alert>
      <List listStyleType="none" className="culvert-account-codes" aria-label="Recovery codes">
        {codes.map((code) => (
          <List.Item key={code} className="culvert-mono">
            {code}
          </List.Item>
        ))}
      </List>
      <Group gap="xs">
        <Button
          variant="default"
          leftSection={isCopied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          onClick={() => copy(text)}
        >
          {isCopied ? 'Copied' : 'Copy codes'}
        </Button>
        <DownloadButton text={text} name="culvert-recovery-codes.txt">
          Save as file
        </DownloadButton>
      </Group>
    </OneTimeSecret>
  );
}

type FormLike = Parameters<typeof showFaults>[0];

/** For forms of one field: whatever the API refuses is said there. */
function sayAt(form: FormLike, field: string, error: unknown): void {
  const rest = showFaults(form, error);
  if (rest !== undefined) form.setFieldError(field, rest);
}
