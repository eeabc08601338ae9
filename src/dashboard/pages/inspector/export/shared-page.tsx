/** `/shared/TOKEN`: one recorded request, for a reader with its link. Outside the shell, logged in or not. */
import { SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useParams } from 'wouter';
import { answered } from '../../../api/client.ts';
import { useApi } from '../../../api/context.tsx';
import { failureFrom } from '../../../api/failure.ts';
import type { Schemas } from '../../../api/types.ts';
import { Ago, When } from '../../../parts/time/ago.tsx';
import { Fact } from '../../../parts/fact.tsx';
import { Frame } from '../../auth/frame.tsx';
import { Waiting } from '../../auth/signed-in-only.tsx';
import { BodyView } from '../body/body-view.tsx';
import { bodyWords } from '../body/body-words.ts';
import { HeaderTable } from '../header-table.tsx';
import { visibleText } from '../visible-text.ts';
import { MASKED } from './share-labels.ts';

type Shared = Schemas['SharedRequest'];
type Lookup = { readonly request?: Shared; readonly problem?: string };

export function SharedPage() {
  const { token } = useParams<{ token: string }>();
  const { client } = useApi();
  const [{ request, problem }, setLookup] = useState<Lookup>({});
  useEffect(() => {
    const gone = new AbortController();
    const call = client.GET('/inspector/shared/{token}', { params: { path: { token } }, signal: gone.signal });
    void answered(call).then(
      (found) => !gone.signal.aborted && setLookup({ request: found }),
      (error: unknown) => !gone.signal.aborted && setLookup({ problem: failureFrom(error).message }),
    );
    return () => gone.abort();
  }, [client, token]);
  if (problem !== undefined)
    return (
      <Frame title="Shared request" heading="This request is not available">
        <Text size="sm">{problem}</Text>
      </Frame>
    );
  if (request === undefined)
    return (
      <Frame title="Shared request">
        <Waiting />
      </Frame>
    );
  return <SharedRequest request={request} />;
}

function SharedRequest({ request }: { readonly request: Shared }) {
  const { method, path, host, status, latency_ms: ms, timestamp, expires_at: until } = request;
  return (
    <Frame title="Shared request" heading="Shared request">
      <Title order={2} size="h5" className="culvert-req-title">
        {method} <bdi>{visibleText(path)}</bdi>
      </Title>
      <SimpleGrid cols={2} spacing="md" verticalSpacing="sm">
        <Fact title="Host">{host}</Fact>
        <Fact title="Status">{status === 0 ? 'No response' : status}</Fact>
        <Fact title="Received">
          <When at={timestamp} />
        </Fact>
        <Fact title="Duration">{`${Math.round(ms * 10) / 10} ms`}</Fact>
        <Fact title="Link expires">
          <Ago at={until} />
        </Fact>
      </SimpleGrid>
      <Text size="sm" c="dimmed">
        {MASKED}
      </Text>
      <Message request={request} side="request" title="Request" />
      <Message request={request} side="response" title="Response" />
    </Frame>
  );
}

interface MessageProps {
  readonly request: Shared;
  readonly side: 'request' | 'response';
  readonly title: string;
}

function Message({ request, side, title }: MessageProps) {
  const fields = request[`${side}_headers`];
  const valueOf = (wanted: string) => fields.find(({ name }) => name.toLowerCase() === wanted)?.value;
  const body = {
    base64: request[`${side}_body`],
    size: request[`${side}_size`],
    isTruncated: request[`${side}_body_truncated`],
    ...bodyWords(valueOf),
  };
  return (
    <Stack gap="sm">
      <BodyView title={`${title} body`} fileName={`${side}-${request.id}`} body={body} />
      <HeaderTable title={`${title} headers`} fields={fields} none="There are none." />
    </Stack>
  );
}
