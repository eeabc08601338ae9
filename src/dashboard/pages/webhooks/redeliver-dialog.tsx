/** Sends the deliveries of a time range once more: counted first, then queued by one click, however often it is clicked. */
import { Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { countText } from '../../parts/format.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { timeZone } from '../../parts/time/time-zone.ts';
import {
  fromOf,
  keyOf,
  localText,
  type Range,
  RANGES,
  type RangeChoice,
  STATE_CHOICES,
  type StateChoice,
} from './redeliver-range.ts';
import { RECEIVERS } from './receiver-queries.ts';
import type { Receiver } from './senders.ts';

interface RedeliverDialogProps {
  readonly receiver: Receiver;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function RedeliverDialog({ receiver, opened, onClose }: RedeliverDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={`Redeliver from ${receiver.name}`}>
      <RangeForm receiver={receiver} onClose={onClose} />
    </Modal>
  );
}

/** `crypto.randomUUID` is there in secure contexts alone, and a dashboard may be served over HTTP. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-');
}

function RangeForm({ receiver: { id }, onClose }: Omit<RedeliverDialogProps, 'opened'>) {
  const { client } = useApi();
  // Of this dialog: a second click is the same call.
  const [opened] = useState(() => ({ at: Date.now(), key: randomKey() }));
  const [choice, setChoice] = useState<RangeChoice>('24');
  const [state, setState] = useState<StateChoice>('failed');
  const [text, setText] = useState({ from: localText(opened.at - 3_600_000), to: localText(opened.at) });
  const range = fromOf(choice, { ...text, now: opened.at });
  const path = { params: { path: { id } } };
  const count = useQuery({
    queryKey: [...RECEIVERS, id, 'range', range, state],
    enabled: range !== undefined,
    queryFn: () =>
      answered(
        client.POST('/webhook-receivers/{id}/redeliver', { ...path, body: { ...whole(range), state, dry_run: true } }),
      ),
  });
  const redeliver = useAction({
    run: () =>
      answered(
        client.POST('/webhook-receivers/{id}/redeliver', {
          ...path,
          body: { ...whole(range), state, dry_run: false, idempotency_key: keyOf(opened.key, whole(range), state) },
        }),
      ),
    done: ({ queued, continue_from: next }) =>
      `${countText(queued)} ${queued === 1 ? 'delivery' : 'deliveries'} queued.${next === null ? '' : ' Redeliver again for the rest.'}`,
    touches: [RECEIVERS],
    onDone: onClose,
    tellsFailure: true,
  });
  const matched = count.data?.matched;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        redeliver.mutate();
      }}
    >
      <Stack>
        <Group grow align="flex-start">
          <Select
            label="Received in"
            data={[...RANGES]}
            allowDeselect={false}
            value={choice}
            onChange={(value) => setChoice(value ?? '24')}
          />
          <Select
            label="State"
            data={[...STATE_CHOICES]}
            allowDeselect={false}
            value={state}
            onChange={(value) => setState(value ?? 'failed')}
          />
        </Group>
        {choice === 'custom' && (
          <Group grow align="flex-start">
            {(['from', 'to'] as const).map((end) => (
              <TextInput
                key={end}
                type="datetime-local"
                label={`${end === 'from' ? 'From' : 'To'}${timeZone() === 'utc' ? ' (UTC)' : ''}`}
                value={text[end]}
                onChange={(event) => setText({ ...text, [end]: event.currentTarget.value })}
              />
            ))}
          </Group>
        )}
        <Text size="sm" role="status">
          {range === undefined ? 'Enter both times, the earlier one first.' : matchText(matched)}
        </Text>
        {count.isError && <FailureAlert error={count.error} />}
        {redeliver.isError && <FailureAlert error={redeliver.error} />}
        <FormEnd
          action="Redeliver"
          isBusy={redeliver.isPending}
          isBarred={matched === undefined || matched === 0}
          onClose={onClose}
        />
      </Stack>
    </form>
  );
}

function whole(range: Range | undefined): Range {
  if (range === undefined) throw new Error('the range is not complete');
  return range;
}

/** Queued by one call, as the API says. */
const AT_ONCE = 1000;

function matchText(matched: number | undefined): string {
  if (matched === undefined) return 'Counting…';
  if (matched === 0) return 'No deliveries match.';
  if (matched === 1) return '1 delivery matches. It is sent before newer ones.';
  const all = `${countText(matched)} deliveries match`;
  return matched > AT_ONCE
    ? `${all}. The oldest ${countText(AT_ONCE)} are sent now, in order.`
    : `${all}. They are sent in order, before newer ones.`;
}
