/** Ten new recovery codes in the place of all earlier ones. */
import { Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/form-end.tsx';
import { PasswordField } from '../auth/fields.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { sayAt } from './say-at.ts';

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
        <Text size="sm">You get ten new codes. All earlier ones are good for nothing then.</Text>
        <PasswordField size="sm" autoComplete="current-password" data-autofocus {...form.getInputProps('password')} />
        <FormEnd action="Create codes" isBusy={renew.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}
