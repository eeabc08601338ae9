/** The dialog for a new alert: what is watched, for how long, and one channel or several. A signing secret is shown once. */
import { Select, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { OneTimeSecret, OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { type Alert, KINDS, kindOf, sentThreshold } from './alert-labels.ts';
import { ALERTS, useTunnels } from './alert-queries.ts';
import { ChannelFields, channelProblem, type ChannelValues, newChannel, sentChannel } from './channel-fields.tsx';
import { ownTimeZone, QUIET, quietHoursOf, RULE_CHECKS, RULE_FAULTS, type RuleValues } from './rule-checks.ts';
import { RuleFields } from './rule-fields.tsx';

/** No tunnel has this id. */
const ALL = 'all';

interface Values extends RuleValues {
  /** Or ALL. */
  tunnelId: string;
  channels: ChannelValues[];
}

interface CreateAlertProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function CreateAlert({ opened, onClose }: CreateAlertProps) {
  // Until this dialog is closed, and nowhere else.
  const [secrets, setSecrets] = useState<readonly string[]>([]);
  const onMade = ({ channels }: Alert): void => {
    const made = channels.flatMap(({ secret }) => secret ?? []);
    if (made.length === 0) onClose();
    else setSecrets(made);
  };
  return (
    <OneTimeSecretModal
      opened={opened}
      onClose={onClose}
      onGone={() => setSecrets([])}
      size="lg"
      title={secrets.length === 0 ? 'New alert' : 'Alert created'}
    >
      {secrets.length === 0 ? <CreateForm onMade={onMade} onClose={onClose} /> : <Secrets secrets={secrets} />}
    </OneTimeSecretModal>
  );
}

function Secrets({ secrets }: { readonly secrets: readonly string[] }) {
  return (
    <OneTimeSecret label="The signing secret, shown once">
      <Text size="sm">
        Your service checks the header webhook-signature with this secret (Standard Webhooks). Copy it now. You
        won&apos;t see it again.
      </Text>
      {secrets.map((secret) => (
        <CopyLine key={secret} value={secret} what="the signing secret" />
      ))}
    </OneTimeSecret>
  );
}

interface CreateFormProps {
  readonly onMade: (alert: Alert) => void;
  readonly onClose: () => void;
}

function CreateForm({ onMade, onClose }: CreateFormProps) {
  const { client } = useApi();
  const { email } = useAccount().user;
  const tunnels = useTunnels().data ?? [];
  const [refused, setRefused] = useState<string>();
  const form = useForm<Values>({
    initialValues: {
      kind: 'tunnel_offline',
      tunnelId: ALL,
      threshold: '',
      forMinutes: 5,
      isQuiet: false,
      quietFrom: QUIET.from,
      quietTo: QUIET.to,
      timeZone: ownTimeZone(),
      channels: [{ ...newChannel(), target: email }],
    },
    validate: { ...RULE_CHECKS, channels: { target: (_, values, path) => channelProblem(values.channels, path) } },
  });
  const create = useAction({
    run: (values: Values) => answered(client.POST('/alerts', { body: bodyOf(values) })),
    touches: [ALERTS],
    done: 'Alert created.',
    onDone: onMade,
    tellsFailure: true,
  });
  const { about, hasScope } = kindOf(form.values.kind);
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => {
        setRefused(undefined);
        create.mutate(values, { onError: (error) => setRefused(showFaults(form, error, RULE_FAULTS)) });
      })}
    >
      <Stack>
        <Select
          label="When"
          description={about}
          data={KINDS.map(({ value, label }) => ({ value, label }))}
          allowDeselect={false}
          data-autofocus
          value={form.values.kind}
          onChange={(value) => {
            const kind = kindOf(value ?? form.values.kind);
            form.setValues({
              kind: kind.value,
              threshold: kind.threshold?.standard ?? '',
              tunnelId: kind.hasScope ? form.values.tunnelId : ALL,
            });
          }}
        />
        {hasScope && (
          <Select
            label="Where"
            data={[
              { value: ALL, label: 'All tunnels' },
              ...tunnels.map(({ id, subdomain }) => ({ value: id, label: subdomain })),
            ]}
            allowDeselect={false}
            searchable
            {...form.getInputProps('tunnelId')}
          />
        )}
        <RuleFields form={form} />
        <ChannelFields form={form} />
        <FormEnd action="Create alert" refused={refused} isBusy={create.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

function bodyOf(values: Values) {
  const { kind, tunnelId, threshold, forMinutes, channels } = values;
  const sent = threshold === '' ? undefined : sentThreshold(kind, threshold);
  return {
    kind,
    scope: tunnelId === ALL ? {} : { tunnel_id: tunnelId },
    for_minutes: forMinutes === '' ? 1 : forMinutes,
    channels: channels.map(sentChannel),
    quiet_hours: quietHoursOf(values),
    ...(sent === undefined ? {} : { threshold: sent }),
  };
}
