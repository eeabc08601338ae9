/** The collector: its endpoint, and the headers of each request to it. Saved values of headers are never shown. */
import { ActionIcon, Button, Group, PasswordInput, Stack, Switch, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { randomId } from '@mantine/hooks';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { type Export, type ExportValues, keepsHeaders, MOST_HEADERS } from './export-values.ts';

export interface DestinationProps {
  readonly form: UseFormReturnType<ExportValues>;
  readonly saved: Export;
  /** Read-only for this user. */
  readonly isFixed: boolean;
}

export function CollectorFields({ form, saved, isFixed }: DestinationProps) {
  const { toCollector } = form.values;
  return (
    <Stack gap="sm">
      <Switch
        label="Send to a collector"
        disabled={isFixed}
        {...form.getInputProps('toCollector', { type: 'checkbox' })}
      />
      {toCollector && (
        <>
          <TextInput
            label="Endpoint"
            description="Base URL. The server adds /v1/logs."
            placeholder="https://otlp.example.com"
            maw={480}
            maxLength={2048}
            autoComplete="off"
            readOnly={isFixed}
            {...form.getInputProps('endpoint')}
          />
          <Headers form={form} saved={saved} isFixed={isFixed} />
        </>
      )}
    </Stack>
  );
}

function Headers({ form, saved, isFixed }: DestinationProps) {
  const { endpoint, headers } = form.values;
  const names = saved.otlp?.headers ?? [];
  const isKept = headers === null && keepsHeaders(saved, endpoint);
  if (isFixed || isKept)
    return (
      <Group gap="xs">
        <Text size="sm" className="culvert-wrap">
          {names.length === 0 ? 'No headers.' : `Saved headers: ${names.join(', ')}.`}
        </Text>
        {!isFixed && (
          <Button variant="subtle" size="xs" onClick={() => form.setFieldValue('headers', [newHeader()])}>
            Replace headers
          </Button>
        )}
      </Group>
    );
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {names.length > 0 && headers === null
          ? 'Saved headers are not sent to another endpoint. Enter them again.'
          : 'Headers of each request, such as Authorization. Values are encrypted and never shown again.'}
      </Text>
      {(headers ?? []).map(({ key }, index) => (
        <HeaderRow key={key} form={form} index={index} />
      ))}
      {(headers?.length ?? 0) < MOST_HEADERS && (
        <Group>
          <Button
            variant="subtle"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => form.setFieldValue('headers', [...(headers ?? []), newHeader()])}
          >
            Add header
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function newHeader() {
  return { key: randomId(), name: '', value: '' };
}

function HeaderRow({ form, index }: { readonly form: DestinationProps['form']; readonly index: number }) {
  const nth = `header ${index + 1}`;
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start" maw={640}>
      <TextInput
        aria-label={`Name of ${nth}`}
        placeholder="Authorization"
        flex="1 1 0"
        miw={0}
        maxLength={100}
        autoComplete="off"
        {...form.getInputProps(`headers.${index}.name`)}
      />
      <PasswordInput
        aria-label={`Value of ${nth}`}
        placeholder="Bearer …"
        flex="2 1 0"
        miw={0}
        maxLength={4096}
        autoComplete="off"
        visibilityToggleButtonProps={{ 'aria-label': `Show the value of ${nth}` }}
        {...form.getInputProps(`headers.${index}.value`)}
      />
      <ActionIcon
        variant="subtle"
        color="red"
        size={36}
        aria-label={`Remove ${nth}`}
        onClick={() => form.removeListItem('headers', index)}
      >
        <IconTrash size={16} />
      </ActionIcon>
    </Group>
  );
}
