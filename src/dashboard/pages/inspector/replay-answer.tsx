/** How a request was answered that was sent again, beside how it was answered first. */
import { Alert, Anchor, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { bytesText, durationText } from '../../parts/format.ts';
import { type Detail, reasonText, statusText } from './messages.ts';

interface AnswerProps {
  readonly first: Detail;
  readonly answer: Schemas['Replayed'];
}

export function ReplayAnswer({ first, answer }: AnswerProps) {
  const { client } = useApi();
  const again = useQuery({
    queryKey: ['inspector', answer.id],
    queryFn: ({ signal }) => answered(client.GET('/inspector/{id}', { params: { path: { id: answer.id } }, signal })),
  });
  const record = again.data;
  const rows = [
    ['Status', statusText(first.status), statusText(answer.status)],
    ['Time', durationText(first.latency_ms), durationText(answer.latency_ms)],
    ...(record === undefined
      ? []
      : [
          ['Size of the answer', bytesText(first.response_size), bytesText(record.response_size)],
          ['Body of the answer', '', first.response_body === record.response_body ? 'the same' : 'another one'],
        ]),
  ];
  return (
    <Alert variant="light" color="culvert" role="status" title="It was sent">
      <Table aria-label="The answers">
        <Table.Thead>
          <Table.Tr>
            <Table.Td />
            <Table.Th scope="col">First</Table.Th>
            <Table.Th scope="col">Now</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(([title, before, now]) => (
            <Table.Tr key={title}>
              <Table.Th scope="row">{title}</Table.Th>
              <Table.Td>{before}</Table.Td>
              <Table.Td>{now}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {answer.code !== undefined && <Text size="sm">{reasonText({ outcome: 'refused', code: answer.code })}</Text>}
      {record !== undefined && (
        <Anchor component={Link} href={`/inspector/${answer.id}`} size="sm" underline="always">
          Look at the new request
        </Anchor>
      )}
    </Alert>
  );
}
