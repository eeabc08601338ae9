/** State of one destination: counts since the server started, and the last error. */
import { Alert, SimpleGrid } from '@mantine/core';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { Fact } from '../../parts/fact.tsx';
import { countText } from '../../parts/format.ts';

interface OutletStatusProps {
  /** null: it is off. */
  readonly status: Schemas['ExportStatus'] | null;
  /** "collector". */
  readonly name: string;
}

export function OutletStatus({ status, name }: OutletStatusProps) {
  if (status === null) return null;
  const { sent, dropped, waiting, last_sent_at: at, last_error: error, failing_since: since } = status;
  return (
    <>
      {error !== null && (
        <Alert color="red" variant="light" role="status" className="culvert-wrap">
          The last attempt failed: {error}.{' '}
          {since !== null && (
            <>
              Failing since <Ago at={since} />.
            </>
          )}{' '}
          The server drops a batch after five minutes of retries.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="md" role="group" aria-label={`State of the ${name}`}>
        <Fact title="Sent">{countText(sent)}</Fact>
        <Fact title="Dropped">{countText(dropped)}</Fact>
        <Fact title="Waiting">{countText(waiting)}</Fact>
        <Fact title="Last sent">{at === null ? 'not yet' : <Ago at={at} />}</Fact>
      </SimpleGrid>
    </>
  );
}
