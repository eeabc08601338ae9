/** Notes about requests that were not recorded, with the reason. */
import { Alert, Text } from '@mantine/core';
import { IconEyeOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../../api/client.ts';
import { useApi } from '../../../api/context.tsx';
import { countText } from '../../../parts/format.ts';
import type { Tunnels } from '../tunnels.ts';

const AGAIN_MS = 30_000;
/** Names that are said; the rest is counted. */
const NAMED = 5;

/** What this server records, and sends again. */
export function useRecording() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['inspector', 'recording'],
    queryFn: ({ signal }) => answered(client.GET('/inspector/recording', { signal })),
    refetchInterval: AGAIN_MS,
  });
}

export function RecordingNotes({ tunnels }: { readonly tunnels: Tunnels }) {
  const { client } = useApi();
  const recording = useRecording();
  const unrecorded = useQuery({
    queryKey: ['inspector', 'unrecorded'],
    queryFn: ({ signal }) => answered(client.GET('/inspector/unrecorded', { signal })),
    refetchInterval: AGAIN_MS,
  });
  const leftOut = recording.data?.not_recorded ?? [];
  const missed = unrecorded.data ?? [];
  const notes: string[] = [];
  if (recording.data?.enabled === false)
    notes.push('Recording is off on this server. Its operator can turn it on: inspector.enabled = true.');
  if (leftOut.length > 0)
    notes.push(`Not recorded, because the agent runs with --no-inspect: ${namesOf(leftOut, tunnels)}.`);
  if (missed.length > 0) {
    const all = missed.reduce((sum, { count }) => sum + count, 0);
    const of = namesOf(
      missed.map(({ tunnel_id: id }) => id),
      tunnels,
    );
    notes.push(
      `${countText(all)} requests of the last 24 hours were served but not recorded (${of}). The server was too busy, or out of memory or disk space.`,
    );
  }
  if (notes.length === 0) return null;
  return (
    <Alert color="yellow" variant="light" icon={<IconEyeOff size={18} />} role="status" py="xs">
      {notes.map((note) => (
        <Text key={note} size="sm" className="culvert-foreign">
          {note}
        </Text>
      ))}
    </Alert>
  );
}

function namesOf(ids: readonly string[], { nameOf }: Tunnels): string {
  const named = ids.slice(0, NAMED).map(nameOf).join(', ');
  return ids.length > NAMED ? `${named} and ${ids.length - NAMED} more` : named;
}
