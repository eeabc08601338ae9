/** The form of the export. All of it is saved at once. */
import { Button, Checkbox, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi, useMay } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { Refused } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { Panel } from '../../parts/panel.tsx';
import { CollectorFields } from './collector-fields.tsx';
import {
  bodyOf,
  CHECKS,
  EVENTS,
  type Export,
  type ExportEvent,
  type ExportValues,
  FAULTS,
  valuesOf,
} from './export-values.ts';
import { OutletStatus } from './outlet-status.tsx';
import { WebhookFields } from './webhook-fields.tsx';

interface ExportFormProps {
  readonly saved: Export;
  /** With the signing secret, if the server created one. */
  readonly onSaved: (view: Export) => void;
}

export function ExportForm({ saved, onSaved }: ExportFormProps) {
  const { client } = useApi();
  const { id } = useAccount().active_org;
  const mayChange = useMay('admin');
  const [refused, setRefused] = useState<string>();
  const form = useForm<ExportValues>({ initialValues: valuesOf(saved), validate: CHECKS });
  const save = useAction({
    run: (values: ExportValues) =>
      answered(client.PUT('/orgs/{id}/export', { params: { path: { id } }, body: bodyOf(values) })),
    touches: [['orgs', id, 'export']],
    done: 'Export saved.',
    onDone: onSaved,
    tellsFailure: true,
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => {
        setRefused(undefined);
        save.mutate(values, { onError: (error) => setRefused(showFaults(form, error, FAULTS)) });
      })}
    >
      <Stack gap="lg">
        <Panel title="Events" about={mayChange ? undefined : 'Admins and owners can change the export.'}>
          <Checkbox.Group
            aria-label="Events"
            {...form.getInputProps('events')}
            onChange={(chosen) => form.setFieldValue('events', chosen as ExportEvent[])}
          >
            <Stack gap="xs">
              {EVENTS.map(({ value, label, help }) => (
                <Checkbox key={value} value={value} label={label} description={help} disabled={!mayChange} />
              ))}
            </Stack>
          </Checkbox.Group>
        </Panel>
        <Panel title="OpenTelemetry collector" about="OTLP over HTTP, as log records.">
          <CollectorFields form={form} saved={saved} isFixed={!mayChange} />
          <OutletStatus status={saved.status.otlp} name="collector" />
        </Panel>
        <Panel title="Webhook" about="A signed POST per batch (Standard Webhooks).">
          <WebhookFields form={form} saved={saved} isFixed={!mayChange} />
          <OutletStatus status={saved.status.webhook} name="webhook" />
        </Panel>
        <Refused>{refused}</Refused>
        {mayChange && (
          <Group>
            <Button type="submit" loading={save.isPending} disabled={!form.isDirty()}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
