/** Creates a metrics key, and shows it once with the settings for Prometheus. */
import { Alert, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/form-end.tsx';
import { showFaults } from '../../parts/form-failure.ts';
import { OneTimeSecret, OneTimeSecretModal } from '../../parts/one-time-secret.tsx';
import { scrapeConfig } from './scrape-config.ts';

interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function NewMetricsKey({ opened, onClose }: DialogProps) {
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
        Put it into a file that Prometheus alone can read, such as /etc/prometheus/culvert.key, and add this to
        prometheus.yml:
      </Text>
      <CopyLine value={scrapeConfig(url)} what="the settings" />
    </OneTimeSecret>
  );
}
