/** Makes an account, verified and with an organization of its own, and shows its password once. */
import { Stack, Switch, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/form-end.tsx';
import { showFaults } from '../../parts/form-failure.ts';
import { OneTimeSecretModal } from '../../parts/one-time-secret.tsx';
import { IssuedPassword } from './password-dialog.tsx';

interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly superadmin: boolean;
}

interface NewUserDialogProps {
  /** Drawn from the start, shut, it gives the focus back to its button. */
  readonly opened?: boolean;
  readonly onClose: () => void;
}

export function NewUserDialog({ opened = true, onClose }: NewUserDialogProps) {
  const [made, setMade] = useState<Schemas['UserWithPassword']>();
  return (
    <OneTimeSecretModal
      opened={opened}
      onClose={onClose}
      onGone={() => setMade(undefined)}
      title={made === undefined ? 'New account' : `The password of ${made.email}`}
    >
      {made === undefined ? (
        <NewUserForm onClose={onClose} onMade={setMade} />
      ) : (
        <IssuedPassword email={made.email} password={made.password} />
      )}
    </OneTimeSecretModal>
  );
}

interface NewUserFormProps {
  readonly onClose: () => void;
  readonly onMade: (made: Schemas['UserWithPassword']) => void;
}

function NewUserForm({ onClose, onMade }: NewUserFormProps) {
  const { client } = useApi();
  const [rest, setRest] = useState<string>();
  const form = useForm<NewUser>({ initialValues: { email: '', name: '', superadmin: false } });
  const make = useAction({
    run: (body: NewUser) => answered(client.POST('/superadmin/users', { body })),
    touches: [['superadmin']],
    onDone: onMade,
    tellsFailure: true,
  });
  const save = (values: NewUser): void => {
    setRest(undefined);
    make.mutate(values, { onError: (error) => setRest(showFaults(form, error)) });
  };
  return (
    <form onSubmit={form.onSubmit(save)} noValidate>
      <Stack>
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="off"
          required
          data-autofocus
          {...form.getInputProps('email')}
        />
        <TextInput label="Name" autoComplete="off" {...form.getInputProps('name')} />
        <Switch
          label="Operator"
          description="Runs this server too: sees and changes all accounts and organizations."
          {...form.getInputProps('superadmin', { type: 'checkbox' })}
        />
        <Text size="sm" c="dimmed">
          The account is verified, with its own organization and a random password that you see once. No email is sent.
        </Text>
        <FormEnd action="Create account" refused={rest} isBusy={make.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}
