/** Sends a recorded request once more, as it was or changed, and shows the answer beside the first one. */
import { Alert, Anchor, Button, Group, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { Link } from 'wouter';
import { answered } from '../../../api/client.ts';
import { useApi } from '../../../api/context.tsx';
import type { Schemas } from '../../../api/types.ts';
import { useAction } from '../../../parts/action.ts';
import { showFaults } from '../../../parts/forms/form-failure.ts';
import { durationText } from '../../../parts/format.ts';
import { FailureAlert } from '../../../parts/loaded.tsx';
import { responseBody } from '../compare/compare-view.tsx';
import { answerFacts } from '../compare/compared.ts';
import { BodyDiff, ComparedFacts } from '../compare/compared-views.tsx';
import { requestHref } from '../filters/address.ts';
import { type Detail, reasonText, statusText } from '../messages.ts';
import { useRequest } from '../request-query.ts';
import { covered, hasCover, uncovered } from './covered-headers.ts';
import { brokenLine, draftOf, editsOf, lacksBody } from './replay-edits.ts';

interface ReplayDialogProps {
  readonly detail: Detail;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function ReplayDialog({ detail, opened, onClose }: ReplayDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={titleFor(detail)} size="lg">
      {opened && <Replay detail={detail} onClose={onClose} />}
    </Modal>
  );
}

function titleFor({ outcome }: Detail): string {
  return outcome === 'refused' ? 'Send blocked request again' : 'Replay request';
}

function Replay({ detail, onClose }: Omit<ReplayDialogProps, 'opened'>) {
  const { client } = useApi();
  const [answer, setAnswer] = useState<Schemas['Replayed']>();
  const [said, setSaid] = useState<unknown>();
  const first = draftOf(detail);
  const recorded = detail.request_header_list;
  const start = covered(first.headers, recorded);
  const isBlocked = detail.outcome === 'refused';
  const isPartial = lacksBody(detail);
  const bodyNote = isBlocked
    ? 'The edge blocked the request before its body came. Enter the body.'
    : 'Only part of it was recorded. Enter all of it.';
  const form = useForm({
    initialValues: { ...first, headers: start, body: first.body ?? '' },
    validate: {
      method: (text) => (text.trim() === '' ? 'Enter a method.' : null),
      path: (text) => (text.startsWith('/') ? null : 'The path must begin with a slash.'),
      body: (text) => (isPartial && text === '' ? bodyNote : null),
      headers: (text) => {
        const line = brokenLine(text);
        return line === undefined
          ? null
          : `"${line.slice(0, 60)}" is not a header. Write one per line, as "Name: value".`;
      },
    },
  });
  const send = useAction({
    run: (values: typeof form.values) => {
      const headers = uncovered(values.headers, recorded);
      const draft = { ...values, headers, body: first.body === undefined ? undefined : values.body };
      const body = editsOf(detail, draft);
      return answered(client.POST('/inspector/{id}/replay', { params: { path: { id: detail.id } }, body }));
    },
    onDone: setAnswer,
    touches: [['inspector', 'replays']],
    tellsFailure: true,
  });
  const toggle = (): void => {
    const { headers } = form.values;
    form.setFieldValue('headers', hasCover(headers) ? uncovered(headers, recorded) : covered(headers, recorded));
  };
  const submit = form.onSubmit((values) => {
    setSaid(undefined);
    send.mutate(values, { onError: (error) => showFaults(form, error) !== undefined && setSaid(error) });
  });
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">
          {isBlocked
            ? 'Your service never got this request. It is sent now, through the current policy, without Authorization and Cookie: they were not recorded.'
            : "Replay sends the request to your service. The tunnel's current policy applies, and usage counts."}
        </Text>
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <TextInput label="Method" w={110} {...form.getInputProps('method')} />
          <TextInput label="Path and query" className="culvert-grow" {...form.getInputProps('path')} />
        </Group>
        <Textarea
          label="Headers"
          description={
            start === first.headers
              ? 'One per line, without the headers that the edge sets.'
              : 'One per line, without the headers that the edge sets. Hidden values are sent as recorded.'
          }
          autosize
          minRows={3}
          maxRows={10}
          spellCheck={false}
          classNames={{ input: 'culvert-mono' }}
          {...form.getInputProps('headers')}
        />
        {start !== first.headers && (
          <Group>
            <Button variant="subtle" size="xs" onClick={toggle}>
              {hasCover(form.values.headers) ? 'Show credentials' : 'Hide credentials'}
            </Button>
          </Group>
        )}
        {first.body === undefined ? (
          <Text size="sm" c="dimmed">
            The body is not text. It is sent as recorded.
          </Text>
        ) : (
          <Textarea
            label="Body"
            {...(isPartial && { description: bodyNote })}
            autosize
            minRows={3}
            maxRows={12}
            spellCheck={false}
            classNames={{ input: 'culvert-mono' }}
            {...form.getInputProps('body')}
          />
        )}
        {said !== undefined && <FailureAlert error={said} />}
        {answer !== undefined && <ReplayAnswer first={detail} answer={answer} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button type="submit" loading={send.isPending}>
            {isBlocked ? 'Send again' : 'Replay'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface AnswerProps {
  readonly first: Detail;
  readonly answer: Schemas['Replayed'];
}

/** How a request was answered that was sent again, beside how it was answered first. */
function ReplayAnswer({ first, answer }: AnswerProps) {
  const { data: record } = useRequest(answer.id);
  return (
    <Alert variant="light" color="culvert" role="status" title="Request sent">
      {record === undefined ? (
        <Text size="sm">
          Status {statusText(answer.status)}, {durationText(answer.latency_ms)}. First: {statusText(first.status)},{' '}
          {durationText(first.latency_ms)}.
        </Text>
      ) : (
        <>
          <ComparedFacts label="Responses" rows={answerFacts(first, record)} left="First" right="Now" />
          <BodyDiff title="Response body" left={responseBody(first)} right={responseBody(record)} />
        </>
      )}
      {answer.code !== undefined && <Text size="sm">{reasonText({ outcome: 'refused', code: answer.code })}</Text>}
      {record !== undefined && (
        <Group gap="md">
          <Anchor component={Link} href={`/inspector/${answer.id}`} size="sm" underline="always">
            Open new request
          </Anchor>
          <Anchor component={Link} href={requestHref(answer.id, {}, first.id)} size="sm" underline="always">
            Compare all
          </Anchor>
        </Group>
      )}
    </Alert>
  );
}
