/** The password in front of a tunnel: whether there is one, and setting, changing and removing it. */
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
      about="Visitors sign in with a user name and a password that they all share (HTTP Basic). Programs can, too."
      actions={<OnOff on={authEnabled} />}
    >
      {made !== undefined && <MadeHere password={made} onTaken={() => setMade(undefined)} />}
      {authEnabled && !changing && (
        <Group justify="space-between" gap="sm">
          <Text size="sm">
            {authUsername === null ? (
              'Visitors are asked.'
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
        <Text size="sm">Take the password now: it is kept as a hash, and can&apos;t be shown again.</Text>
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
    done: 'Visitors are asked for no password any more.',
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
        title={`Remove the password of ${subdomain}?`}
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
        Applies immediately: visitors get in without a password, unless another setting on this page blocks them.
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
