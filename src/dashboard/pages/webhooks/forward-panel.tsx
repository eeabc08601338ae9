/** The forwarding of deliveries to a tunnel, and the dialogs that change it. */
import { Anchor, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { Link } from 'wouter';
import { useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { countText } from '../../parts/format.ts';
import { useTunnels } from '../tunnels/tunnel-queries.ts';
import { useReceiverChange } from './edit-receiver.tsx';
import type { Receiver } from './senders.ts';

export function ForwardPanel({ receiver }: { readonly receiver: Receiver }) {
  const mayChange = useMay('member');
  const [dialog, setDialog] = useState<'change' | 'stop'>();
  const close = (): void => setDialog(undefined);
  const { forward } = receiver;
  const stop = useReceiverChange(receiver, close);
  return (
    <Panel
      title="Forwarding"
      actions={
        mayChange && (
          <>
            {forward !== null && (
              <Button variant="subtle" color="gray" c="dimmed" onClick={() => setDialog('stop')}>
                Stop
              </Button>
            )}
            <Button variant="default" onClick={() => setDialog('change')}>
              {forward === null ? 'Forward to tunnel' : 'Change'}
            </Button>
          </>
        )
      }
    >
      <ForwardingStatus receiver={receiver} />
      <Modal opened={dialog === 'change'} onClose={close} title={`Forward ${receiver.name} to a tunnel`}>
        <ForwardForm receiver={receiver} onClose={close} />
      </Modal>
      <Confirm
        title={`Stop forwarding ${receiver.name}?`}
        action="Stop forwarding"
        opened={dialog === 'stop'}
        isBusy={stop.isPending}
        error={stop.error}
        onConfirm={() => stop.mutate({ forward: null })}
        onClose={() => {
          stop.reset();
          close();
        }}
      >
        New deliveries are still stored here. {receiver.waiting > 0 && 'Waiting deliveries are not forwarded.'}
      </Confirm>
    </Panel>
  );
}

function ForwardingStatus({ receiver: { forward, waiting, failed, failing } }: { readonly receiver: Receiver }) {
  const tunnels = useTunnels();
  if (forward === null)
    return (
      <Text size="sm" c="dimmed">
        Deliveries are stored. Forward them to a tunnel, and your service gets them in order. They wait while it is
        offline.
      </Text>
    );
  const tunnel = tunnels.data?.find(({ id }) => id === forward.tunnel_id);
  return (
    <Group gap="sm">
      <Text size="sm" className="culvert-wrap">
        To{' '}
        <Anchor component={Link} href={`/tunnels/${forward.tunnel_id}`} inherit underline="always">
          {tunnel?.subdomain ?? 'a tunnel'}
        </Anchor>
        <span className="culvert-mono">{forward.path}</span>
      </Text>
      {failed > 0 && <StateBadge tone="bad">{`${countText(failed)} failed`}</StateBadge>}
      {waiting > 0 ? (
        <StateBadge tone={failing === null ? 'warn' : 'bad'}>{`${countText(waiting)} waiting`}</StateBadge>
      ) : (
        failed === 0 && <StateBadge tone="good">Up to date</StateBadge>
      )}
    </Group>
  );
}

/** Tunnels that deliveries can go to. */
export function forwardChoices(tunnels: readonly Schemas['Tunnel'][] | undefined) {
  return (tunnels ?? [])
    .filter(({ protocol }) => protocol !== 'tcp')
    .map(({ id, subdomain, online }) => ({ value: id, label: online ? subdomain : `${subdomain} (offline)` }));
}

function ForwardForm({ receiver, onClose }: { readonly receiver: Receiver; readonly onClose: () => void }) {
  const tunnels = useTunnels();
  const [refused, setRefused] = useState<string>();
  const { forward, waiting } = receiver;
  const form = useForm({
    initialValues: { tunnel_id: forward?.tunnel_id ?? '', path: forward?.path ?? '/' },
    validate: {
      tunnel_id: (id) => (id === '' ? 'Choose a tunnel.' : null),
      path: (path) => (path.startsWith('/') ? null : 'The path must begin with /.'),
    },
  });
  const change = useReceiverChange(receiver, onClose);
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => {
        setRefused(undefined);
        change.mutate({ forward: values }, { onError: (error) => setRefused(showFaults(form, error)) });
      })}
    >
      <Stack>
        <Select
          label="Tunnel"
          placeholder="Choose one"
          data={forwardChoices(tunnels.data)}
          searchable
          nothingFoundMessage="No HTTP tunnel found"
          data-autofocus
          {...form.getInputProps('tunnel_id')}
        />
        <TextInput
          label="Path"
          description="Path of your service. The tunnel's policy applies to deliveries; its password and visitor login do not."
          maxLength={1024}
          autoComplete="off"
          spellCheck={false}
          classNames={{ input: 'culvert-mono' }}
          {...form.getInputProps('path')}
        />
        <Text size="sm" c="dimmed">
          {waiting > 0
            ? `Applies to new deliveries and the ${countText(waiting)} waiting ones.`
            : 'Applies to new deliveries.'}
        </Text>
        <FormEnd action="Forward" refused={refused} isBusy={change.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}
