/** The actions of a policy, in the order in which the edge applies them, as cards. */
import {
  ActionIcon,
  Button,
  Group,
  Menu,
  Paper,
  SegmentedControl,
  Stack,
  Text,
  ThemeIcon,
  Title,
  Tooltip,
} from '@mantine/core';
import {
  type Icon,
  IconArrowBarToDown,
  IconArrowBarToUp,
  IconFolderOff,
  IconGauge,
  IconMapPin,
  IconMapPinOff,
  IconPlus,
  IconShield,
  IconShieldLock,
  IconTrash,
} from '@tabler/icons-react';
import { createElement } from 'react';
import { Ago } from '../../parts/time/ago.tsx';
import { countText } from '../../parts/format.ts';
import { visiblePath } from '../inspector/visible-text.ts';
import { ActionFields, type FieldsProps } from './action-fields.tsx';
import { placeOf } from './check.ts';
import type { DryRun } from './data.ts';
import { type Draft, policyIn, withChanged, without } from './draft.ts';
import { type Action, addable, askedOrder, entryOf, type Kind } from './kinds.ts';
import type { Editor } from './use-editor.ts';

interface ActionListProps {
  readonly draft: Draft;
  readonly editor: Editor;
  /** Of the saved policy; none while another one is edited. */
  readonly dryRuns: readonly DryRun[];
  readonly isReadOnly: boolean;
}

export function ActionList({ draft, editor, dryRuns, isReadOnly }: ActionListProps) {
  const order = askedOrder(policyIn(draft).actions);
  return (
    <Stack gap="xs">
      {order.length > 1 && (
        <Text size="xs" c="dimmed">
          The edge applies actions from top to bottom, in a fixed order: addresses, paths, tokens, rate, headers. The
          first action that blocks a request ends the check. Blocked requests don&apos;t count toward the rate.
        </Text>
      )}
      <Stack gap="sm" component="ol" className="culvert-policy-actions">
        {order.map((index) => {
          const one = draft.actions[index];
          if (one === undefined) return null;
          return (
            <ActionCard
              key={one.key}
              action={one.action}
              index={index}
              faults={editor.faults}
              isReadOnly={isReadOnly}
              dryRun={dryRuns.find((run) => run.index === index)}
              onChange={(action) => editor.edit(withChanged(draft, one.key, action))}
              onRemove={() => editor.edit(without(draft, one.key))}
            />
          );
        })}
      </Stack>
    </Stack>
  );
}

interface AddActionProps {
  readonly actions: readonly Action[];
  readonly protocol: string;
  readonly onAdd: (kind: Kind) => void;
}

/** The button that adds an action: each kind with a line about what it does, and why it can't be added when it can't. */
export function AddAction({ actions, protocol, onAdd }: AddActionProps) {
  return (
    <Menu position="bottom-start" width={340} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconPlus size={16} />}>
          Add action
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {addable(actions, protocol).map(({ entry: { kind, title, about }, blocked }) => (
          <Menu.Item
            key={kind}
            disabled={blocked !== undefined}
            leftSection={createElement(iconOf(kind), { size: 18 })}
            onClick={() => onAdd(kind)}
          >
            <Text size="sm" fw={500}>
              {title}
            </Text>
            <Text size="xs" c="dimmed">
              {blocked ?? about}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

interface CardProps extends FieldsProps {
  /** What it would have refused since the policy was saved; undefined: it is not only tried, or is not saved yet. */
  readonly dryRun: DryRun | undefined;
  readonly onRemove: () => void;
}

/** Each label names the mode itself: a switch would not say which one applies. */
const MODES = [
  { value: 'enforce', label: 'Enforce' },
  { value: 'not', label: 'Log only' },
];
const HEADER_MODES = [
  { value: 'enforce', label: 'On' },
  { value: 'not', label: 'Off' },
];

/** One action of the policy: what it is, its fields, whether it is only tried, and what it would have refused so far. */
function ActionCard({ dryRun, onRemove, ...fields }: CardProps) {
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
            <SegmentedControl
              data={setsHeader ? HEADER_MODES : MODES}
              aria-label={`${title}: mode`}
              value={action.enforce ? 'enforce' : 'not'}
              disabled={isReadOnly}
              size="xs"
              onChange={(mode) => onChange({ ...action, enforce: mode === 'enforce' })}
            />
            {!isReadOnly && (
              <Tooltip label="Remove action">
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
        Once saved, it blocks no requests and counts those that it would have blocked.
      </Text>
    );
  const { would_refuse: count, last_at: last, sample } = dryRun;
  if (count === 0 || sample === null)
    return (
      <Text size="sm" c="dimmed">
        Would have blocked nothing since the policy was saved.
      </Text>
    );
  const what = visiblePath([sample.method, sample.path].filter((part) => part !== null).join(' '));
  return (
    <Text size="sm">
      Would have blocked <b>{countText(count)}</b> since the policy was saved; last <Ago at={last} />
      {what === '' ? '' : ': '}
      <span className="culvert-mono">{what}</span> from <span className="culvert-mono">{sample.client_ip}</span>.
    </Text>
  );
}

const ICONS: Readonly<Record<Kind, Icon>> = {
  ip_deny: IconMapPinOff,
  ip_allow: IconMapPin,
  deny: IconFolderOff,
  jwt_validation: IconShieldLock,
  rate_limit: IconGauge,
  header_set: IconArrowBarToDown,
  response_header_set: IconArrowBarToUp,
};

/** The sign of each kind of action. */
function iconOf(kind: string): Icon {
  return kind in ICONS ? ICONS[kind as Kind] : IconShield;
}
