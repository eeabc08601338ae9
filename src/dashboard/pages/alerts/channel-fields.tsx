/** The channels of a new alert: where its messages go. */
import { ActionIcon, Button, Fieldset, Group, PasswordInput, Select, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { randomId } from '@mantine/hooks';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { CHANNELS, channelOf, type ChannelType } from './alert-labels.ts';

const MOST = 10;

export interface ChannelValues {
  /** In the form alone. */
  key: string;
  type: ChannelType;
  target: string;
  /** Of ntfy. */
  token: string;
}

export function newChannel(): ChannelValues {
  return { key: randomId(), type: 'email', target: '', token: '' };
}

/** As the API takes it. */
export function sentChannel({ type, target, token }: ChannelValues) {
  return {
    type,
    [channelOf(type).field]: target.trim(),
    ...(type === 'ntfy' && token.trim() !== '' ? { token: token.trim() } : {}),
  };
}

/** `path`: of the field, as `channels.0.target`. */
export function channelProblem(channels: readonly ChannelValues[], path: string): string | null {
  const channel = channels[Number(path.split('.')[1])];
  if (channel === undefined || channel.target.trim() !== '') return null;
  return `Enter the ${channelOf(channel.type).title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}.`;
}

interface WithChannels {
  channels: ChannelValues[];
}

interface ChannelForm {
  readonly values: WithChannels;
  readonly getInputProps: UseFormReturnType<WithChannels>['getInputProps'];
  readonly setFieldValue: (path: `channels.${number}.${'type' | 'target'}`, value: string) => void;
  readonly insertListItem: (path: 'channels', item: ChannelValues) => void;
  readonly removeListItem: (path: 'channels', index: number) => void;
}

export function ChannelFields({ form }: { readonly form: ChannelForm }) {
  const { channels } = form.values;
  return (
    <Stack gap="sm">
      {channels.map((channel, index) => (
        <ChannelField key={channel.key} form={form} index={index} />
      ))}
      {channels.length < MOST && (
        <Group>
          <Button
            variant="subtle"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => form.insertListItem('channels', newChannel())}
          >
            Add channel
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function ChannelField({ form, index }: { readonly form: ChannelForm; readonly index: number }) {
  const { channels } = form.values;
  const channel = channels[index];
  if (channel === undefined) return null;
  const { title, placeholder, help, isSecret } = channelOf(channel.type);
  const target = { label: title, description: help, placeholder, maxLength: 2048, autoComplete: 'off' };
  return (
    <Fieldset legend={channels.length === 1 ? 'Channel' : `Channel ${index + 1}`}>
      <Stack gap="xs">
        <Group align="flex-end" wrap="nowrap">
          <Select
            label="Send to"
            className="culvert-grow"
            data={CHANNELS.map(({ value, label }) => ({ value, label }))}
            allowDeselect={false}
            value={channel.type}
            onChange={(type) => {
              if (type === null || type === channel.type) return;
              form.setFieldValue(`channels.${index}.type`, type);
              form.setFieldValue(`channels.${index}.target`, '');
            }}
          />
          {channels.length > 1 && (
            <ActionIcon
              variant="subtle"
              color="red"
              c="var(--mantine-color-error)"
              size={36}
              aria-label={`Remove channel ${index + 1}`}
              onClick={() => form.removeListItem('channels', index)}
            >
              <IconTrash size={16} />
            </ActionIcon>
          )}
        </Group>
        {isSecret === true ? (
          <PasswordInput
            {...target}
            visibilityToggleButtonProps={{ 'aria-label': `Show the ${title.toLowerCase()}` }}
            {...form.getInputProps(`channels.${index}.target`)}
          />
        ) : (
          <TextInput {...target} {...form.getInputProps(`channels.${index}.target`)} />
        )}
        {channel.type === 'ntfy' && (
          <PasswordInput
            label="Access token"
            description="Only if the topic requires one."
            maxLength={512}
            autoComplete="off"
            visibilityToggleButtonProps={{ 'aria-label': 'Show the access token' }}
            {...form.getInputProps(`channels.${index}.token`)}
          />
        )}
      </Stack>
    </Fieldset>
  );
}
