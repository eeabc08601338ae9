/** Turns the second factor off, by the password or, for accounts without one, by a recovery code. */
import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { CodeField, PasswordField } from '../auth/fields.tsx';
import { sayAt } from './say-at.ts';

const PROOFS = [
  { value: 'password', label: 'Password' },
  { value: 'recovery_code', label: 'Recovery code' },
];

export function DisableForm({ onClose }: { readonly onClose: () => void }) {
  const { client } = useApi();
  const [proof, setProof] = useState('password');
  const form = useForm({ initialValues: { password: '', recovery_code: '' } });
  const isPassword = proof === 'password';
  const disable = useAction({
    run: ({ password, recovery_code }: { password: string; recovery_code: string }) =>
      answered(client.POST('/auth/mfa/disable', { body: isPassword ? { password } : { recovery_code } })),
    done: 'The second factor is off.',
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
          Then the password is enough to sign in. The app&apos;s codes and your recovery codes are good for nothing.
        </Text>
        <SegmentedControl
          fullWidth
          data={PROOFS}
          value={proof}
          onChange={setProof}
          aria-label="Prove that it is you by"
        />
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
            Keep
          </Button>
          <Button type="submit" color="red.8" loading={disable.isPending}>
            Turn off
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
