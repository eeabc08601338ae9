/** Sets up an authenticator app: its secret as a picture and as text, the code that proves it, then the recovery codes. All of it in memory only. */
import { Center, Loader, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect, useRef, useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/form-end.tsx';
import { FailureAlert } from '../../parts/loaded.tsx';
import { QrCode } from '../../parts/qr-code.tsx';
import { CodeField } from '../auth/fields.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { sayAt } from './say-at.ts';

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
        <Text size="sm">Scan this with an authenticator app, or type the secret into it.</Text>
        <Center>
          <QrCode
            text={enrolled.otpauth_uri}
            label="The secret for an authenticator app; it stands below as text"
            size={208}
          />
        </Center>
        <CopyLine value={enrolled.secret_base32} what="the secret" />
        <CodeField
          size="sm"
          label="Code that the app shows"
          description="The second factor is on once this code is right; you have 10 minutes."
          {...form.getInputProps('code')}
        />
        <FormEnd action="Turn on" isBusy={confirm.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}
