/** User name and password that visitors of a tunnel must show. What is typed here is nowhere else, and can't be read back. */
import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { CopyIcon } from '../../parts/copy.tsx';
import { useAction } from '../../parts/action.ts';
import { showFaults } from '../../parts/form-failure.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { newPassword } from './new-password.ts';

interface BasicFormProps {
  readonly tunnelId: string;
  /** The current user name; null: no password is required. */
  readonly username: string | null;
  /** `password`: generated here, and not known to the user yet. */
  readonly onDone: (password?: string) => void;
  readonly onCancel?: () => void;
}

export function BasicForm({ tunnelId, username, onDone, onCancel }: BasicFormProps) {
  const { client } = useApi();
  const [isShown, setShown] = useState(false);
  const [made, setMade] = useState<string>();
  const [isRefused, setRefused] = useState(false);
  const form = useForm({
    initialValues: { username: username ?? '', password: '' },
    validate: {
      username: (name) => (name === '' ? 'Choose a user name.' : name.includes(':') ? 'It must have no colon.' : null),
      password: (password) => (password === '' ? 'Choose a password.' : null),
    },
  });
  const put = useAction({
    run: (body: Schemas['BasicGate']) =>
      answered(client.PUT('/tunnels/{id}/auth', { params: { path: { id: tunnelId } }, body })),
    done: 'Visitors are asked for the password from the next request on.',
    touches: [['tunnels']],
    onDone: (_, { password: set }) => onDone(set === made ? set : undefined),
    tellsFailure: true,
  });
  const send = (body: Schemas['BasicGate']): void => {
    setRefused(false);
    put.mutate(body, { onError: (error) => setRefused(showFaults(form, error) !== undefined) });
  };
  const { password } = form.values;
  return (
    <form onSubmit={form.onSubmit(send)} noValidate>
      <Stack gap="sm" maw={460}>
        <TextInput
          label="User name"
          maxLength={256}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          {...form.getInputProps('username')}
        />
        <Group gap={4} wrap="nowrap" align="flex-end" className="culvert-field-and-copy">
          <PasswordInput
            label="Password"
            maxLength={256}
            autoComplete="new-password"
            visible={isShown}
            onVisibilityChange={setShown}
            visibilityToggleButtonProps={{ 'aria-label': isShown ? 'Hide the password' : 'Show the password' }}
            flex={1}
            {...form.getInputProps('password')}
          />
          {password !== '' && <CopyIcon value={password} what="the password" />}
        </Group>
        <Text size="xs" c="dimmed">
          It is kept as a hash and can&apos;t be shown again: copy it now if you need it.
        </Text>
        {isRefused && <FailureAlert error={put.error} />}
        <Group gap="xs">
          <Button type="submit" loading={put.isPending}>
            {username === null ? 'Require password' : 'Change password'}
          </Button>
          <Button
            variant="default"
            onClick={() => {
              const next = newPassword();
              setMade(next);
              form.setFieldValue('password', next);
              setShown(true);
            }}
          >
            Generate one
          </Button>
          {onCancel !== undefined && (
            <Button variant="subtle" color="gray" onClick={onCancel}>
              Cancel
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}
