/** Links under which one request can be seen without an account, for a while: made, listed, revoked. */
import { Button, Group, Modal, Select, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../../api/client.ts';
import { useApi } from '../../../api/context.tsx';
import type { Schemas } from '../../../api/types.ts';
import { useAction } from '../../../parts/action.ts';
import { CopyLine } from '../../../parts/copy.tsx';
import { clockText, timeOf } from '../../../parts/format.ts';
import { FailureAlert } from '../../../parts/loaded.tsx';
import { MASKED } from './share-labels.ts';

const HOUR_SECONDS = 3600;
const DAY = String(24 * HOUR_SECONDS);
const SPANS = [
  { value: String(HOUR_SECONDS), label: '1 hour' },
  { value: DAY, label: '1 day' },
  { value: String(7 * 24 * HOUR_SECONDS), label: '7 days' },
  { value: String(30 * 24 * HOUR_SECONDS), label: '30 days' },
];
const SHARES = ['inspector', 'shares'] as const;

interface ShareDialogProps {
  /** Of the request. */
  readonly id: string;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function ShareDialog({ id, opened, onClose }: ShareDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Share request" size="lg">
      {opened && <Share id={id} onClose={onClose} />}
    </Modal>
  );
}

function Share({ id, onClose }: Omit<ShareDialogProps, 'opened'>) {
  const { client } = useApi();
  const [span, setSpan] = useState(DAY);
  const create = useAction({
    run: (seconds: number) =>
      answered(
        client.POST('/inspector/{id}/share', { params: { path: { id } }, body: { expires_in_seconds: seconds } }),
      ),
    touches: [SHARES],
    tellsFailure: true,
  });
  return (
    <Stack gap="sm">
      <Text size="sm">
        Anyone with the link sees this request with its bodies. {MASKED} Check other data before you share it.
      </Text>
      {create.data === undefined ? (
        <>
          <Select
            label="Link expires after"
            allowDeselect={false}
            data={SPANS}
            value={span}
            onChange={(next) => setSpan(next ?? span)}
          />
          {create.isError && <FailureAlert error={create.error} />}
        </>
      ) : (
        <>
          <CopyLine value={create.data.url} what="the link" />
          <Text size="sm" c="dimmed">
            Copy it now. You won&apos;t see it again. It expires at {clockText(timeOf(create.data.expires_at))}.
          </Text>
        </>
      )}
      <Links id={id} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {create.data === undefined ? 'Cancel' : 'Done'}
        </Button>
        {create.data === undefined && (
          <Button loading={create.isPending} onClick={() => create.mutate(Number(span))}>
            Create link
          </Button>
        )}
      </Group>
    </Stack>
  );
}

/** Links of this request that still open it. */
function Links({ id }: { readonly id: string }) {
  const { client } = useApi();
  const shares = useQuery({
    queryKey: SHARES,
    queryFn: ({ signal }) => answered(client.GET('/inspector/shares', { signal })),
  });
  const own = (shares.data ?? []).filter((share) => share.request_id === id);
  if (shares.isError) return <FailureAlert error={shares.error} again={shares.refetch} />;
  if (own.length === 0) return null;
  return (
    <Table aria-label="Active links">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Created by</Table.Th>
          <Table.Th scope="col">Expires</Table.Th>
          <Table.Td />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {own.map((share) => (
          <LinkRow key={share.id} share={share} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

function LinkRow({ share }: { readonly share: Schemas['Share'] }) {
  const { client } = useApi();
  const revoke = useAction({
    run: () => answered(client.DELETE('/inspector/shares/{id}', { params: { path: { id: share.id } } })),
    done: 'Link revoked.',
    touches: [SHARES],
  });
  return (
    <Table.Tr>
      <Table.Td className="culvert-wrap">{share.created_by}</Table.Td>
      <Table.Td>{clockText(timeOf(share.expires_at))}</Table.Td>
      <Table.Td ta="right">
        <Button size="compact-sm" variant="default" loading={revoke.isPending} onClick={() => revoke.mutate()}>
          Revoke
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}
