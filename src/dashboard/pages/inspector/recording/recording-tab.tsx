/** Recording settings of a tunnel: mask rules and frames of WebSockets. */
import { Button, Code, Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { answered } from '../../../api/client.ts';
import { useApi, useMay } from '../../../api/context.tsx';
import type { Schemas, Tunnel } from '../../../api/types.ts';
import { useAction } from '../../../parts/action.ts';
import { undoOf } from '../../../parts/undo/undo.ts';
import { FailureAlert, Loaded } from '../../../parts/loaded.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { maskRulesIn, maskText } from './mask-rules.ts';

type Settings = Schemas['InspectorSettings'];

export function RecordingTab({ tunnel }: { readonly tunnel: Pick<Tunnel, 'id'> }) {
  const { client } = useApi();
  const settings = useQuery({
    queryKey: ['tunnels', tunnel.id, 'inspector'],
    queryFn: ({ signal }) =>
      answered(client.GET('/tunnels/{id}/inspector', { params: { path: { id: tunnel.id } }, signal })),
  });
  return (
    <Panel
      title="Recording"
      about="Masked values are replaced by *** before a request is stored, for everyone. Your service gets them unchanged."
    >
      <Loaded query={settings} lines={4}>
        {(found) => (
          <>
            <FramesChoice settings={found} />
            <MaskForm key={maskText(found.mask)} settings={found} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

const CHOICES = new Map<string, boolean | null>([
  ['on', true],
  ['off', false],
  ['server', null],
]);

/** Saves a setting of recording, and how that is undone. */
function useSettings(before: Settings, field: 'mask' | 'websocket_frames') {
  const { client } = useApi();
  const params = { path: { id: before.id } };
  const put = (body: Schemas['InspectorSettingsInput']) =>
    answered(client.PUT('/tunnels/{id}/inspector', { params, body }));
  const read = () => answered(client.GET('/tunnels/{id}/inspector', { params }));
  const undo = (after: Settings) =>
    undoOf<Settings, 'mask' | 'websocket_frames'>({
      before,
      after,
      fields: [field],
      read,
      write: put,
    });
  return { put, undo };
}

function FramesChoice({ settings }: { readonly settings: Settings }) {
  const { put, undo } = useSettings(settings, 'websocket_frames');
  const may = useMay('member');
  const { websocket_frames: frames, websocket_frames_default: isOnByDefault } = settings;
  const save = useAction({
    run: (chosen: boolean | null) => put({ websocket_frames: chosen }),
    undo,
    done: 'WebSocket frames saved.',
    touches: [['tunnels', settings.id, 'inspector']],
    tellsFailure: true,
  });
  const title = 'WebSocket frames';
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Text size="xs" c="dimmed">
        Record the first 200 messages of new connections, 16 KB of each. JSON rules apply to them.
      </Text>
      <Group>
        <SegmentedControl
          aria-label={title}
          disabled={!may || save.isPending}
          data={[
            { value: 'server', label: `Server default (${isOnByDefault ? 'on' : 'off'})` },
            { value: 'on', label: 'On' },
            { value: 'off', label: 'Off' },
          ]}
          value={frames === null ? 'server' : frames ? 'on' : 'off'}
          onChange={(value) => save.mutate(CHOICES.get(value) ?? null)}
        />
      </Group>
      {save.isError && <FailureAlert error={save.error} />}
    </Stack>
  );
}

function MaskForm({ settings }: { readonly settings: Settings }) {
  const { put, undo } = useSettings(settings, 'mask');
  const may = useMay('member');
  const [text, setText] = useState(() => maskText(settings.mask));
  const [problem, setProblem] = useState<string>();
  const save = useAction({
    run: (mask: Settings['mask']) => put({ mask }),
    undo,
    done: 'Mask rules saved.',
    touches: [['tunnels', settings.id, 'inspector']],
    tellsFailure: true,
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const read = maskRulesIn(text);
    setProblem('problem' in read ? read.problem : undefined);
    if ('rules' in read) save.mutate([...read.rules]);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Textarea
          label="Mask rules"
          description="One per line. They apply to requests from now on."
          placeholder={'header: X-Api-Key\njson: $..password\nquery: token\nform: card'}
          autosize
          minRows={4}
          maxRows={16}
          spellCheck={false}
          readOnly={!may}
          classNames={{ input: 'culvert-mono' }}
          error={problem}
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setProblem(undefined);
          }}
        />
        <Text size="xs" c="dimmed">
          <Code>header:</Code> a header of request or response. <Code>json:</Code> a path such as $.card.number,
          $.items[*].secret or $..password. <Code>query:</Code> a query parameter. <Code>form:</Code> a field of a form.
        </Text>
        {save.isError && <FailureAlert error={save.error} />}
        {may && (
          <Group>
            <Button type="submit" loading={save.isPending} disabled={text === maskText(settings.mask)}>
              Save rules
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
