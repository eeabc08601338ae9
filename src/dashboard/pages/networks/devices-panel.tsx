/** The devices of a network: addresses, handshakes, traffic and actions. */
import { Button, Group, Menu, Stack, Text, Title } from '@mantine/core';
import { IconDeviceLaptop, IconFileText, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useMay } from '../../api/context.tsx';
import { Ago } from '../../parts/time/ago.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { RowMenu, useMenuDialog } from '../../parts/dialogs/row-menu.tsx';
import { SearchBox } from '../../parts/forms/search-box.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { bytesText, countText } from '../../parts/format.ts';
import { DeviceConfigDialog } from './config-dialog.tsx';
import { EditDevice, RevokeDevice } from './device-dialogs.tsx';
import { EnrolDevice } from './enrol-device.tsx';
import { useDevices } from './network-queries.ts';
import { type Device, deviceStatus, isSelfRelayed, type Network, plainIp } from './network-labels.ts';

/** Rows that are drawn; the others are found by searching. */
const MAX_SHOWN = 100;

type Action = 'config' | 'edit' | 'revoke';

export function DevicesPanel({ network }: { readonly network: Network }) {
  const devices = useDevices(network.id);
  const mayChange = useMay('member');
  const [isEnrolling, setEnrolling] = useState(false);
  const button = mayChange && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setEnrolling(true)}>
      Enroll device
    </Button>
  );
  return (
    <Stack gap="sm" component="section" aria-label="Devices">
      {devices.data?.length !== 0 && (
        <Group justify="space-between">
          <Title order={2} size="h5">
            Devices
          </Title>
          {button}
        </Group>
      )}
      <Loaded query={devices}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon={IconDeviceLaptop} title="No devices yet" action={button}>
              A device is anything with WireGuard: a phone, a computer, a router. Each gets an address in {network.cidr}{' '}
              and its own config.
            </Empty>
          ) : (
            <Devices network={network} all={all} mayChange={mayChange} now={devices.dataUpdatedAt} />
          )
        }
      </Loaded>
      <EnrolDevice network={network} opened={isEnrolling} onClose={() => setEnrolling(false)} />
    </Stack>
  );
}

interface DevicesProps {
  readonly network: Network;
  readonly all: readonly Device[];
  readonly mayChange: boolean;
  /** When the list was read. */
  readonly now: number;
}

function Devices({ network, all, mayChange, now }: DevicesProps) {
  const [search, setSearch] = useState('');
  // It stays while the dialog of the action closes. The dialogs are drawn from the start, shut: they give the focus back then.
  const [chosen, setChosen] = useState<{ readonly device: Device; readonly action: Action }>();
  const [isOpen, { open, close }] = useDisclosure(false);
  const about = chosen?.device ?? all[0];
  const words = search.trim().toLowerCase();
  const found = all.filter((one) => `${one.name} ${one.assigned_ip} ${one.public_key}`.toLowerCase().includes(words));
  const columns = columnsFor({
    network,
    mayChange,
    now,
    onAction: (device: Device, action: Action) => {
      setChosen({ device, action });
      open();
    },
  });
  return (
    <>
      <SearchBox
        label="Search devices"
        placeholder="Name, address or public key"
        among={all.length}
        value={search}
        onChange={setSearch}
      />
      {found.length > 0 && (
        <Table isPaged label="Devices" rows={found.slice(0, MAX_SHOWN)} rowKey={({ id }) => id} columns={columns} />
      )}
      {(found.length === 0 || found.length > MAX_SHOWN) && (
        <Text size="sm" c="dimmed">
          {found.length === 0
            ? 'No devices match.'
            : `The first ${MAX_SHOWN} of ${countText(found.length)}. Search to find others.`}
        </Text>
      )}
      {about !== undefined && (
        <>
          <DeviceConfigDialog
            network={network}
            device={about}
            opened={isOpen && chosen?.action === 'config'}
            onClose={close}
          />
          <EditDevice network={network} device={about} opened={isOpen && chosen?.action === 'edit'} onClose={close} />
          <RevokeDevice
            network={network}
            device={about}
            opened={isOpen && chosen?.action === 'revoke'}
            onClose={close}
          />
        </>
      )}
    </>
  );
}

interface ColumnsFor {
  readonly network: Network;
  readonly mayChange: boolean;
  readonly now: number;
  readonly onAction: (device: Device, action: Action) => void;
}

function columnsFor({ network, mayChange, now, onAction }: ColumnsFor): ReadonlyArray<Column<Device>> {
  // Of a network that clients reach without this server nothing is seen.
  const isSeen = !isSelfRelayed(network);
  const seen: ReadonlyArray<Column<Device>> = [
    { key: 'state', title: 'State', cell: (device) => <State device={device} now={now} /> },
    { key: 'handshake', title: 'Last handshake', cell: ({ last_handshake_at: at }) => <Ago at={at} /> },
    { key: 'seen', title: 'Last seen', cell: (device) => <LastSeen device={device} /> },
    {
      key: 'traffic',
      title: 'Sent / received',
      align: 'right',
      cell: ({ bytes_in: sent, bytes_out: received }) => `${bytesText(sent)}, ${bytesText(received)}`,
    },
  ];
  return [
    { key: 'name', title: 'Name', cell: (device) => <Name device={device} /> },
    { key: 'ip', title: 'Address', cell: ({ assigned_ip: ip }) => <span className="culvert-mono">{plainIp(ip)}</span> },
    ...(isSeen ? seen : []),
    { key: 'expires', title: 'Access ends', cell: ({ expires_at: at }) => <Ago at={at} /> },
    {
      key: 'actions',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: (device) => <DeviceMenu device={device} mayChange={mayChange} onAction={onAction} />,
    },
  ];
}

function Name({ device: { name, extra_allowed_ips: behind } }: { readonly device: Device }) {
  return (
    <div>
      <Text size="sm" fw={500}>
        {name}
      </Text>
      {behind.length > 0 && (
        <Text size="xs" c="dimmed">
          with {behind.join(', ')} behind it
        </Text>
      )}
    </div>
  );
}

function State({ device, now }: { readonly device: Device; readonly now: number }) {
  const { tone, words } = deviceStatus(device, now);
  return <StateBadge tone={tone}>{words}</StateBadge>;
}

function LastSeen({ device: { last_seen_at: at, endpoint } }: { readonly device: Device }) {
  return (
    <div>
      <Ago at={at} />
      {endpoint !== null && (
        <Text size="xs" c="dimmed" className="culvert-mono">
          {endpoint}
        </Text>
      )}
    </div>
  );
}

interface DeviceMenuProps {
  readonly device: Device;
  readonly mayChange: boolean;
  readonly onAction: (device: Device, action: Action) => void;
}

function DeviceMenu({ device, mayChange, onAction }: DeviceMenuProps) {
  const { button, from } = useMenuDialog();
  return (
    <RowMenu button={button} label={`Actions for ${device.name}`}>
      <Menu.Item leftSection={<IconFileText size={16} />} onClick={from(() => onAction(device, 'config'))}>
        Show config
      </Menu.Item>
      {mayChange && (
        <>
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={from(() => onAction(device, 'edit'))}>
            Edit
          </Menu.Item>
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} />}
            onClick={from(() => onAction(device, 'revoke'))}
          >
            Revoke
          </Menu.Item>
        </>
      )}
    </RowMenu>
  );
}
