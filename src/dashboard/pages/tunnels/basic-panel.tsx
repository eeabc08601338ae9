/** The password in front of a tunnel: its state, and the form that sets it. */
import { Alert, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconShieldLock } from '@tabler/icons-react';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { CopyIcon, CopyLine } from '../../parts/copy.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { newPassword } from './access-values.ts';
import { OnOff } from './badges.tsx';
import type { TunnelDetail } from './tunnel-queries.ts';

export function BasicPanel({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const { id, authEnabled, authUsername } = tunnel;
  const [changing, change] = useDisclosure(false);
  // Until it was taken, or the page is left, and nowhere else.
  const [made, setMade] = useState<string>();
  const mayChange = useMay('member');
  const done = (password?: string): void => {
    setMade(password);
    change.close();
  };
  return (
    <Panel
      title="Password"
      about="All visitors share one user name and password (HTTP Basic). Works for browsers and programs."
      actions={<OnOff on={authEnabled} />}
    >
      {made !== undefined && <MadeHere password={made} onTaken={() => setMade(undefined)} />}
      {authEnabled && !changing && (
        <Group justify="space-between" gap="sm">
          <Text size="sm">
            {authUsername === null ? (
              'Password required.'
            ) : (
              <>
                The user name is <span className="culvert-mono">{authUsername}</span>.
              </>
            )}
          </Text>
          {mayChange && (
            <Group gap="xs">
              <Button variant="default" onClick={change.open}>
                Change
              </Button>
              <RemoveBasic tunnel={tunnel} />
            </Group>
          )}
        </Group>
      )}
      {mayChange && authEnabled && changing && (
        <BasicForm tunnelId={id} username={authUsername} onDone={done} onCancel={change.close} />
      )}
      {mayChange && !authEnabled && <BasicForm tunnelId={id} username={null} onDone={done} />}
    </Panel>
  );
}

function MadeHere({ password, onTaken }: { readonly password: string; readonly onTaken: () => void }) {
  return (
    <Alert color="yellow" variant="light" icon={<IconShieldLock size={18} />}>
      <Stack gap="xs">
        <Text size="sm">Copy the password now. You won&apos;t see it again.</Text>
        <CopyLine value={password} what="the password" />
        <Button variant="default" w="fit-content" onClick={onTaken}>
          Done
        </Button>
      </Stack>
    </Alert>
  );
}

function RemoveBasic({ tunnel: { id, subdomain } }: { readonly tunnel: TunnelDetail }) {
  const { client } = useApi();
  const [opened, { open, close }] = useDisclosure(false);
  const remove = useAction({
    run: () => answered(client.DELETE('/tunnels/{id}/auth', { params: { path: { id } } })),
    done: 'Password removed.',
    touches: [['tunnels']],
    onDone: close,
    tellsFailure: true,
  });
  return (
    <>
      <Button variant="default" onClick={open}>
        Remove
      </Button>
      <Confirm
        title={`Remove the password from ${subdomain}?`}
        action="Remove password"
        opened={opened}
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={() => {
          remove.reset();
          close();
        }}
      >
        Applies immediately: visitors need no password. Other settings on this page still apply.
      </Confirm>
    </>
  );
}

interface BasicFormProps {
  readonly tunnelId: string;
  /** The current user name; null: no password is required. */
  readonly username: string | null;
  /** `password`: generated here, and not known to the user yet. */
  readonly onDone: (password?: string) => void;
  readonly onCancel?: () => void;
}

/** User name and password that visitors of a tunnel must show. What is typed here is nowhere else, and can't be read back. */
function BasicForm({ tunnelId, username, onDone, onCancel }: BasicFormProps) {
  const { client } = useApi();
  const [isShown, setShown] = useState(false);
  const [made, setMade] = useState<string>();
  const [isRefused, setRefused] = useState(false);
  const form = useForm({
    initialValues: { username: username ?? '', password: '' },
    validate: {
      username: (name) =>
        name === '' ? 'Enter a user name.' : name.includes(':') ? "A user name can't contain a colon." : null,
      password: (password) => (password === '' ? 'Enter a password.' : null),
    },
  });
  const put = useAction({
    run: (body: Schemas['BasicGate']) =>
      answered(client.PUT('/tunnels/{id}/auth', { params: { path: { id: tunnelId } }, body })),
    done: 'Password saved. Applies immediately.',
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
          Copy it now. You won&apos;t see it again.
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
            Generate password
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
