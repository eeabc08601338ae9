/** The password in front of a tunnel: whether there is one, and setting, changing and removing it. */
import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useDeed } from '../../parts/deed.ts';
import { Panel } from '../../parts/panel.tsx';
import { BasicForm } from './basic-form.tsx';
import { OnOff } from './on-off.tsx';
import type { TunnelDetail } from './tunnel-queries.ts';

export function BasicPanel({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const { id, authEnabled, authUsername } = tunnel;
  const [changing, change] = useDisclosure(false);
  const mayChange = useMay('member');
  return (
    <Panel
      title="Password"
      about="Visitors sign in with a user name and a password that they all share (HTTP Basic). Programs can, too."
      actions={<OnOff on={authEnabled} />}
    >
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
        <BasicForm tunnelId={id} username={authUsername} onDone={change.close} onCancel={change.close} />
      )}
      {mayChange && !authEnabled && <BasicForm tunnelId={id} username={null} onDone={change.close} />}
    </Panel>
  );
}

function RemoveBasic({ tunnel: { id, subdomain } }: { readonly tunnel: TunnelDetail }) {
  const { client } = useApi();
  const [opened, { open, close }] = useDisclosure(false);
  const remove = useDeed({
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
        deed="Remove password"
        opened={opened}
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={() => {
          remove.reset();
          close();
        }}
      >
        From the next request on, whoever knows the address is let in, unless something else on this page asks.
      </Confirm>
    </>
  );
}
