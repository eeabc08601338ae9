/** Connected agents, and the dialog to disconnect one. */
import { Anchor, Button, Text, TextInput } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { Fragment, useState } from 'react';
import { Link } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { useAsked } from '../../parts/dialogs/asked.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { ConnectButton } from '../../parts/connect/connect-agent.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type Served, useConnections, useServed } from './connection-queries.ts';
import { Machine } from './machine.tsx';

type Connection = Schemas['Connection'];

export function LivePanel() {
  const query = useConnections();
  const asked = useAsked<Connection>();
  const columns = useColumns(asked.ask);
  return (
    <>
      <Loaded query={query} lines={2}>
        {(connections) =>
          connections.length === 0 ? (
            <Empty icon={IconPlugConnected} title="No agents connected" action={<ConnectButton />}>
              Run culvert http, https, tcp, udp or start with a key of this organization. The agent then appears here.
            </Empty>
          ) : (
            <Table
              label="Connected agents"
              rows={[...connections].sort((one, other) => other.connected_at.localeCompare(one.connected_at))}
              rowKey={({ agent_id: id }) => id}
              columns={columns}
            />
          )
        }
      </Loaded>
      <DisconnectDialog connection={asked.row} opened={asked.opened} onClose={asked.close} />
    </>
  );
}

function useColumns(disconnect: (connection: Connection) => void): ReadonlyArray<Column<Connection>> {
  const served = useServed();
  const mayEnd = useMay('member');
  const columns: Array<Column<Connection>> = [
    {
      key: 'machine',
      title: 'Machine',
      cell: ({ hostname, version }) => (
        <Machine hostname={hostname} below={version === '' ? undefined : `culvert ${version}`} />
      ),
    },
    { key: 'address', title: 'IP address', cell: ({ remote_ip: ip }) => <span className="culvert-mono">{ip}</span> },
    {
      key: 'serves',
      title: 'Serves',
      cell: ({ tunnels, networks }) => <Serves ids={[...tunnels, ...networks]} served={served} />,
    },
    { key: 'key', title: 'Key', cell: ({ token_name: name }) => name ?? 'deleted key' },
    { key: 'since', title: 'Connected', cell: ({ connected_at: at }) => <Ago at={at} /> },
  ];
  if (mayEnd)
    columns.push({
      key: 'actions',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: (connection) => (
        <Button
          variant="default"
          size="xs"
          className="culvert-touch"
          onClick={() => disconnect(connection)}
          aria-label={`Disconnect ${connection.hostname || connection.remote_ip}`}
        >
          Disconnect
        </Button>
      ),
    });
  return columns;
}

const MOST = 5;

function Serves({ ids, served }: { readonly ids: readonly string[]; readonly served: ReadonlyMap<string, Served> }) {
  if (ids.length === 0)
    return (
      <Text span size="sm" c="dimmed">
        nothing
      </Text>
    );
  const shown = ids.slice(0, MOST);
  return (
    <span>
      {shown.map((id, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <Name of={served.get(id)} />
        </Fragment>
      ))}
      {ids.length > MOST && ` and ${ids.length - MOST} more`}
    </span>
  );
}

function Name({ of }: { readonly of: Served | undefined }) {
  if (of === undefined) return <>…</>;
  return (
    <Anchor component={Link} href={of.href} size="sm">
      {of.name}
    </Anchor>
  );
}

interface DisconnectDialogProps {
  /** Undefined: no agent was chosen yet. */
  readonly connection: Schemas['Connection'] | undefined;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Confirms that an agent is disconnected, and asks for a reason, which the agent shows. */
function DisconnectDialog({ connection, opened, onClose }: DisconnectDialogProps) {
  const { client } = useApi();
  const [reason, setReason] = useState('');
  const close = (): void => {
    setReason('');
    action.reset();
    onClose();
  };
  const action = useAction({
    run: ({ agent_id: id }: Schemas['Connection']) => {
      const why = reason.trim();
      return answered(
        client.DELETE('/connections/{id}', { params: { path: { id } }, body: why === '' ? {} : { reason: why } }),
      );
    },
    done: 'Agent disconnected.',
    touches: [['connections'], ['tunnels']],
    onDone: close,
    tellsFailure: true,
  });
  const name = connection?.hostname || connection?.remote_ip || '';
  return (
    <Confirm
      title={`Disconnect ${name}?`}
      action="Disconnect"
      opened={opened}
      isBusy={action.isPending}
      error={action.error}
      onConfirm={() => connection !== undefined && action.mutate(connection)}
      onClose={close}
    >
      <p>
        Its open requests are cut off. The agent reconnects in about 5 seconds. To block it, revoke its key
        {connection?.token_name === null || connection === undefined ? '' : ` ${connection.token_name}`} as well.
      </p>
      <TextInput
        label="Reason (optional)"
        description="Shown by the agent and in the audit log."
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        maxLength={200}
      />
    </Confirm>
  );
}
