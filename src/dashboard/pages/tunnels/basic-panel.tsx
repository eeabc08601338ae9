/** The password in front of a tunnel: whether there is one, and setting, changing and removing it. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconShieldLock } from '@tabler/icons-react';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { Panel } from '../../parts/panel.tsx';
import { BasicForm } from './basic-form.tsx';
import { OnOff } from './on-off.tsx';
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
