/** The rules: what each watches, its state, its channels, and what can be done to it. */
import { Menu, Stack, Text } from '@mantine/core';
import { IconBellOff, IconBellRinging, IconMailForward, IconPencil, IconSend, IconTrash } from '@tabler/icons-react';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Tunnel } from '../../api/types.ts';
import { say, sayNews, useAction } from '../../parts/action.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { type Asked, useAsked } from '../../parts/dialogs/asked.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { RowMenu, useMenuDialog } from '../../parts/dialogs/row-menu.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type Alert, channelOf, ruleText, stateOf, testText } from './alert-labels.ts';
import { ALERTS, useRuleChange, useTunnels } from './alert-queries.ts';
import { EditAlert } from './edit-alert.tsx';
import { sendToAll, sentText, waitingAddresses } from './resend.ts';

export function AlertTable({ alerts }: { readonly alerts: readonly Alert[] }) {
  const mayChange = useMay('member');
  const tunnels = useTunnels().data;
  const edit = useAsked<Alert>();
  const deletion = useAsked<Alert>();
  const columns = columnsOf(tunnels);
  return (
    <>
      <Table
        label="Alert rules"
        rows={alerts}
        rowKey={({ id }) => id}
        columns={mayChange ? [...columns, menuColumn(edit, deletion)] : columns}
      />
      <EditAlert asked={edit} />
      <DeleteAlert asked={deletion} />
    </>
  );
}

/** `tunnels`: undefined while it is not known which there are. */
function columnsOf(tunnels: readonly Tunnel[] | undefined): ReadonlyArray<Column<Alert>> {
  return [
    { key: 'rule', title: 'Rule', cell: (alert) => <Rule alert={alert} tunnels={tunnels} /> },
    {
      key: 'state',
      title: 'State',
      cell: (alert) => {
        const { tone, words } = stateOf(alert);
        return <StateBadge tone={tone}>{words}</StateBadge>;
      },
    },
    { key: 'channels', title: 'Channels', cell: (alert) => <Channels alert={alert} /> },
  ];
}

function Rule({ alert, tunnels }: { readonly alert: Alert; readonly tunnels: readonly Tunnel[] | undefined }) {
  const { tunnel_id: tunnelId } = alert.scope;
  const name = tunnels?.find(({ id }) => id === tunnelId)?.subdomain ?? tunnelId;
  const { quiet_hours: quiet } = alert;
  return (
    <Stack gap={2}>
      <Text size="sm" fw={500}>
        {ruleText(alert)}
      </Text>
      <Text size="xs" c="dimmed" className="culvert-wrap">
        {tunnelId === undefined ? 'Whole organization' : `Tunnel ${name}`}
        {quiet !== null && `, quiet ${quiet.from} to ${quiet.to} ${quiet.time_zone}`}
      </Text>
      {alert.incidents.map(({ id, title, since }) => (
        <Text key={id} size="xs" className="culvert-wrap">
          {title} (<Ago at={since} />)
        </Text>
      ))}
    </Stack>
  );
}

function Channels({ alert: { channels } }: { readonly alert: Alert }) {
  return (
    <Stack gap={4}>
      {channels.map(({ id, type, to, url, state, last_error: error, last_sent_at: at }) => (
        <div key={id}>
          <Text size="sm" className="culvert-wrap">
            {channelOf(type).label}: {to ?? url}
          </Text>
          {state === 'pending' && (
            <Text size="xs" className="culvert-wrap">
              <StateBadge tone="warn">Not confirmed</StateBadge> The address gets alerts after its owner opens the link
              in the email.
            </Text>
          )}
          {error === null ? (
            at !== null && (
              <Text size="xs" c="dimmed">
                Sent <Ago at={at} />
              </Text>
            )
          ) : (
            <Text size="xs" className="culvert-wrap">
              <StateBadge tone="bad">Fails</StateBadge> {error}
            </Text>
          )}
        </div>
      ))}
    </Stack>
  );
}

function menuColumn(edit: Asked<Alert>, deletion: Asked<Alert>): Column<Alert> {
  return {
    key: 'actions',
    title: 'Actions',
    hidden: true,
    align: 'right',
    cell: (alert) => <AlertMenu alert={alert} edit={edit} deletion={deletion} />,
  };
}

interface AlertMenuProps {
  readonly alert: Alert;
  readonly edit: Asked<Alert>;
  readonly deletion: Asked<Alert>;
}

function AlertMenu({ alert, edit, deletion }: AlertMenuProps) {
  const { client } = useApi();
  const { button, from } = useMenuDialog();
  const path = { params: { path: { id: alert.id } } };
  const test = useAction({
    run: () => answered(client.POST('/alerts/{id}/test', path)),
    touches: [ALERTS],
    onDone: (result) => (result.ok ? say(testText(result)) : sayNews(testText(result))),
  });
  const waiting = waitingAddresses(alert);
  const resend = useAction({
    run: () =>
      sendToAll(waiting, (channelId) =>
        answered(
          client.POST('/alerts/{id}/channels/{channel_id}/resend', {
            params: { path: { id: alert.id, channel_id: channelId } },
          }),
        ),
      ),
    touches: [ALERTS],
    onDone: (refused) => (refused.length === 0 ? say : sayNews)(sentText(waiting, refused)),
  });
  const { run, undo } = useRuleChange(alert, ['enabled']);
  const toggle = useAction({
    run: () => run({ enabled: !alert.enabled }),
    undo,
    done: alert.enabled ? 'Alert disabled.' : 'Alert enabled.',
    touches: [ALERTS],
  });
  return (
    <RowMenu
      button={button}
      label={`Actions for ${ruleText(alert)}`}
      isBusy={test.isPending || toggle.isPending || resend.isPending}
    >
      <Menu.Item leftSection={<IconSend size={16} />} onClick={() => test.mutate()}>
        Send test
      </Menu.Item>
      {waiting.length > 0 && (
        <Menu.Item leftSection={<IconMailForward size={16} />} onClick={() => resend.mutate()}>
          Resend confirmation
        </Menu.Item>
      )}
      <Menu.Item leftSection={<IconPencil size={16} />} onClick={from(() => edit.ask(alert))}>
        Edit
      </Menu.Item>
      <Menu.Item
        leftSection={alert.enabled ? <IconBellOff size={16} /> : <IconBellRinging size={16} />}
        onClick={() => toggle.mutate()}
      >
        {alert.enabled ? 'Disable' : 'Enable'}
      </Menu.Item>
      <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={from(() => deletion.ask(alert))}>
        Delete
      </Menu.Item>
    </RowMenu>
  );
}

function DeleteAlert({ asked: { row: alert, opened, close } }: { readonly asked: Asked<Alert> }) {
  const { client } = useApi();
  const remove = useAction({
    run: (id: string) => answered(client.DELETE('/alerts/{id}', { params: { path: { id } } })),
    done: 'Alert deleted.',
    touches: [ALERTS],
    onDone: close,
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Delete the alert ${alert === undefined ? '' : ruleText(alert)}?`}
      action="Delete alert"
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => alert !== undefined && remove.mutate(alert.id)}
      onClose={() => {
        remove.reset();
        close();
      }}
    >
      No more messages are sent. Its history is deleted too.
    </Confirm>
  );
}
