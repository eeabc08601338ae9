/** One action of the policy: what it is, its fields, whether it is only tried, and what it would have refused so far. */
import { ActionIcon, Group, Paper, Stack, Switch, Text, ThemeIcon, Title, Tooltip } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { createElement } from 'react';
import { Ago } from '../../parts/ago.tsx';
import { countText } from '../../parts/format.ts';
import { ActionFields, type FieldsProps } from './action-fields.tsx';
import { visiblePath } from '../inspector/visible-text.ts';
import { placeOf } from './check.ts';
import type { DryRun } from './data.ts';
import { iconOf } from './kind-icon.ts';
import { entryOf } from './kinds.ts';

interface CardProps extends FieldsProps {
  /** What it would have refused since the policy was saved; undefined: it is not only tried, or is not saved yet. */
  readonly dryRun: DryRun | undefined;
  readonly onRemove: () => void;
}

export function ActionCard({ dryRun, onRemove, ...fields }: CardProps) {
  const { action, index, faults, isReadOnly, onChange } = fields;
  const entry = entryOf(action.kind);
  const title = entry?.title ?? action.kind;
  const setsHeader = entry?.setsHeader === true;
  const fault = faults.get(placeOf(index, 'kind')) ?? faults.get(placeOf(index, 'enforce'));
  return (
    <Paper withBorder p="sm" component="li" aria-label={title}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" gap="xs">
          <Group gap="sm" wrap="nowrap" align="flex-start" className="culvert-page-words">
            <ThemeIcon variant="light" size={32} aria-hidden>
              {createElement(iconOf(action.kind), { size: 18 })}
            </ThemeIcon>
            <div>
              <Title order={4} size="sm">
                {title}
              </Title>
              <Text size="xs" c="dimmed">
                {entry?.about}
              </Text>
            </div>
          </Group>
          <Group gap="sm" wrap="nowrap">
            <Switch
              label={setsHeader ? 'On' : 'Log only'}
              aria-label={`${title}: ${setsHeader ? 'on' : 'log only'}`}
              checked={setsHeader ? action.enforce : !action.enforce}
              disabled={isReadOnly}
              size="sm"
              onChange={({ currentTarget: { checked } }) =>
                onChange({ ...action, enforce: setsHeader ? checked : !checked })
              }
            />
            {!isReadOnly && (
              <Tooltip label="Remove this action">
                <ActionIcon variant="subtle" color="gray" size={36} onClick={onRemove} aria-label={`Remove: ${title}`}>
                  <IconTrash size={18} />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
        </Group>
        {fault !== undefined && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {fault}
          </Text>
        )}
        <ActionFields {...fields} />
        {!action.enforce && !setsHeader && <DryRunLine dryRun={dryRun} />}
      </Stack>
    </Paper>
  );
}

function DryRunLine({ dryRun }: { readonly dryRun: DryRun | undefined }) {
  if (dryRun === undefined)
    return (
      <Text size="sm" c="dimmed">
        Once saved, it blocks no request and counts those that it would have blocked.
      </Text>
    );
  const { would_refuse: count, last_at: last, sample } = dryRun;
  if (count === 0 || sample === null)
    return (
      <Text size="sm" c="dimmed">
        Would have refused nothing since the policy was saved.
      </Text>
    );
  const what = visiblePath([sample.method, sample.path].filter((part) => part !== null).join(' '));
  return (
    <Text size="sm">
      Would have refused <b>{countText(count)}</b> since the policy was saved; last <Ago at={last} />
      {what === '' ? '' : ': '}
      <span className="culvert-mono">{what}</span> from <span className="culvert-mono">{sample.client_ip}</span>.
    </Text>
  );
}
