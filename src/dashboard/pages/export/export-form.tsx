/** The form of the export. All of it is saved at once. */
import { Alert, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../api/context.tsx';
import { focusMain } from '../../parts/focus.ts';
import { Refused } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { Panel } from '../../parts/panel.tsx';
import { CollectorFields } from './collector-fields.tsx';
import { EVENTS, type Export, type ExportEvent, FAULTS } from './export-values.ts';
import { OutletStatus } from './outlet-status.tsx';
import { useExportForm } from './use-export-form.ts';
import { WebhookFields } from './webhook-fields.tsx';

interface ExportFormProps {
  readonly saved: Export;
  /** With the signing secret, if the server created one. */
  readonly onSaved: (view: Export) => void;
}

export function ExportForm({ saved, onSaved }: ExportFormProps) {
  const mayChange = useMay('admin');
  const [refused, setRefused] = useState<string>();
  const { form, save, isOverwriting, discard } = useExportForm(saved, onSaved);
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
        {isOverwriting && (
          <OtherSettings
            onDiscard={() => {
              setRefused(undefined);
              discard();
              focusMain();
            }}
          />
        )}
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

/** Another admin has saved since this form was filled in. */
function OtherSettings({ onDiscard }: { readonly onDiscard: () => void }) {
  return (
    <Alert color="yellow" role="alert" variant="light">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">Another admin changed these settings. Save replaces them with yours.</Text>
        <Button variant="default" size="xs" className="culvert-touch" onClick={onDiscard}>
          Discard my changes
        </Button>
      </Stack>
    </Alert>
  );
}
