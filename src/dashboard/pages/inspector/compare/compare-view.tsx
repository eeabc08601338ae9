/** Two recorded requests beside each other. */
import { Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { clockText, timeOf } from '../../../parts/format.ts';
import { Loaded } from '../../../parts/loaded.tsx';
import { recordedWords } from '../body/body-words.ts';
import type { Detail } from '../messages.ts';
import { useRequest } from '../request-query.ts';
import { answerFacts, compareFields, type FactRow, requestFacts } from './compared.ts';
import { BodyDiff, ComparedFacts, type ComparedBody, FieldChanges } from './compared-views.tsx';

interface CompareProps {
  readonly left: string;
  readonly right: string;
  /** Buttons of the place where it is shown. */
  readonly children?: ReactNode;
}

export function CompareView({ left, right, children }: CompareProps) {
  const [first, second] = [useRequest(left), useRequest(right)];
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h5">
          Comparison
        </Title>
        <Group gap="xs">{children}</Group>
      </Group>
      <Loaded query={first} lines={4}>
        {(before) => (
          <Loaded query={second} lines={4}>
            {(after) => <Compared key={`${before.id} ${after.id}`} left={before} right={after} />}
          </Loaded>
        )}
      </Loaded>
    </Stack>
  );
}

function Compared({ left, right }: { readonly left: Detail; readonly right: Detail }) {
  if (left.id === right.id)
    return (
      <Text size="sm" c="dimmed">
        This is the first request. Choose another one in the list.
      </Text>
    );
  const facts = [...answerFacts(left, right), ...requestFacts(left, right).filter(isWorthSaying)];
  return (
    <>
      <ComparedFacts label="Facts" rows={facts} left={titleOf(left)} right={titleOf(right)} />
      <BodyDiff title="Response body" left={responseBody(left)} right={responseBody(right)} />
      <FieldChanges
        title="Response headers"
        fields={compareFields(left.response_header_list, right.response_header_list)}
      />
      <BodyDiff title="Request body" left={requestBody(left)} right={requestBody(right)} />
      <FieldChanges
        title="Request headers"
        fields={compareFields(left.request_header_list, right.request_header_list)}
      />
    </>
  );
}

/** What is the same is left out, but for what the two are. */
function isWorthSaying({ title, left, right }: FactRow): boolean {
  return left !== right || title === 'Path';
}

function titleOf({ timestamp, replay_of: original }: Detail): string {
  return `${clockText(timeOf(timestamp))}${original === null ? '' : ' (replay)'}`;
}

export function responseBody(detail: Detail): ComparedBody {
  return {
    base64: detail.response_body,
    isTruncated: detail.response_body_truncated,
    ...recordedWords(detail.response_headers),
  };
}

function requestBody(detail: Detail): ComparedBody {
  return {
    base64: detail.request_body,
    isTruncated: detail.request_body_truncated,
    ...recordedWords(detail.request_headers),
  };
}
