/** Keys with which Prometheus reads the numbers of the organization, and nothing else. */
import { ActionIcon, Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconKey, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { type Asked, useAsked } from '../../parts/dialogs/asked.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { OneTimeSecret, OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { scrapeConfig } from './key-commands.ts';

type MetricKey = Schemas['MetricKey'];

const METRIC_KEYS = ['metrics', 'keys'] as const;

const COLUMNS: ReadonlyArray<Column<MetricKey>> = [
  { key: 'name', title: 'Name', cell: ({ name }) => name },
  { key: 'by', title: 'Created by', cell: ({ created_by: by }) => by ?? 'former member' },
  { key: 'made', title: 'Created', cell: ({ created_at: at }) => <Ago at={at} /> },
  { key: 'used', title: 'Last used', cell: ({ last_used_at: at }) => <Ago at={at} /> },
];

export function MetricsKeys() {
  const { client } = useApi();
  const isAdmin = useMay('admin');
  const [opened, { open, close }] = useDisclosure(false);
  const deletion = useAsked<MetricKey>();
  const keys = useQuery({
    queryKey: METRIC_KEYS,
    queryFn: ({ signal }) => answered(client.GET('/metrics/keys', { signal })),
  });
  const columns = isAdmin ? [...COLUMNS, deleteColumn(deletion)] : COLUMNS;
  return (
    <Panel
      title="Metrics keys"
      about="For Prometheus. They only read the organization's metrics, until they are deleted or their creator leaves."
      actions={
        isAdmin && (
          <Button variant="default" size="sm" onClick={open}>
            New metrics key
          </Button>
        )
      }
    >
      <Loaded query={keys} lines={1}>
        {(rows) =>
          rows.length === 0 ? (
            <Text size="sm" c="dimmed">
              None yet.{!isAdmin && ' Admins create them.'}
            </Text>
          ) : (
            <Table label="Metrics keys" rows={rows} rowKey={({ id }) => id} columns={columns} />
          )
        }
      </Loaded>
      <NewMetricsKey opened={opened} onClose={close} />
      <DeleteDialog asked={deletion} />
    </Panel>
  );
}

function deleteColumn(deletion: Asked<MetricKey>): Column<MetricKey> {
  return {
    key: 'actions',
    title: 'Actions',
    hidden: true,
    align: 'right',
    cell: (key) => (
      <ActionIcon
        variant="subtle"
        color="red"
        c="var(--mantine-color-error)"
        size={36}
        aria-label={`Delete the metrics key ${key.name}`}
        onClick={() => deletion.ask(key)}
      >
        <IconTrash size={16} />
      </ActionIcon>
    ),
  };
}

function DeleteDialog({ asked: { row: key, opened, close } }: { readonly asked: Asked<MetricKey> }) {
  const { client } = useApi();
  const remove = useAction({
    run: (id: string) => answered(client.DELETE('/metrics/keys/{id}', { params: { path: { id } } })),
    done: 'Metrics key deleted.',
    touches: [METRIC_KEYS],
    onDone: close,
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Delete the metrics key ${key?.name ?? ''}?`}
      action="Delete key"
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => key !== undefined && remove.mutate(key.id)}
      onClose={() => {
        remove.reset();
        close();
      }}
    >
      Scrapers that use it are rejected immediately.
    </Confirm>
  );
}

interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Creates a metrics key, and shows it once with the settings for Prometheus. */
function NewMetricsKey({ opened, onClose }: DialogProps) {
  return (
    <OneTimeSecretModal opened={opened} onClose={onClose} title="New metrics key" size="lg">
      <Steps onClose={onClose} />
    </OneTimeSecretModal>
  );
}

function Steps({ onClose }: Pick<DialogProps, 'onClose'>) {
  const { client } = useApi();
  const [made, setMade] = useState<Schemas['MadeMetricKey']>();
  const [message, setMessage] = useState<string>();
  const form = useForm({ initialValues: { name: 'prometheus' } });
  const make = useAction({
    run: (body: Schemas['NewMetricKey']) => answered(client.POST('/metrics/keys', { body })),
    touches: [['metrics', 'keys']],
    onDone: setMade,
    tellsFailure: true,
  });
  if (made !== undefined) return <Made made={made} />;
  const submit = form.onSubmit((values) => {
    setMessage(undefined);
    make.mutate(values, { onError: (error) => setMessage(showFaults(form, error)) });
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
        <FormEnd action="Create key" refused={message} isBusy={make.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

function Made({ made }: { readonly made: Schemas['MadeMetricKey'] }) {
  const { url } = useApi();
  return (
    <OneTimeSecret label={`The metrics key ${made.name}, shown once`}>
      <Alert color="yellow" variant="light" icon={<IconKey size={18} />} role="status">
        This is the metrics key {made.name}. Copy it now. You won&apos;t see it again.
      </Alert>
      <CopyLine value={made.key} what="the key" />
      <Text size="sm">
        Put it into a file that only Prometheus can read, such as /etc/prometheus/culvert.key. Then add this to
        prometheus.yml:
      </Text>
      <CopyLine value={scrapeConfig(url)} what="the settings" />
    </OneTimeSecret>
  );
}
