/** The body of a message: read well, raw, or as bytes; to copy and to save. */
import { ActionIcon, SegmentedControl, Text, Tooltip } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { CopyIcon } from '../../../parts/copy.tsx';
import { bytesText } from '../../../parts/format.ts';
import { Section } from '../section.tsx';
import { visibleText } from '../visible-text.ts';
import { charsetOf, endingOf, shownAs, typeOf } from './body-kind.ts';
import { textOf } from './bytes.ts';
import type { Opened } from './codings.ts';
import { HexView, LongText } from './raw-text.tsx';
import { PrettyBody } from './pretty-body.tsx';
import { saveBytes } from '../../../parts/download.tsx';
import { useOpened } from './use-opened.ts';

export interface Body {
  readonly base64: string;
  /** Bytes that went, whatever was kept of them. */
  readonly size: number;
  readonly isTruncated: boolean;
  /** Headers of the message; empty: it had none. */
  readonly type: string;
  readonly coding: string;
  /** Of the messages of a gRPC call. */
  readonly grpcCoding?: string;
}

interface BodyViewProps {
  readonly title: string;
  /** Of the file that it is saved as, without the ending. */
  readonly fileName: string;
  readonly body: Body;
}

type Way = 'pretty' | 'raw' | 'bytes';
const WAYS = [
  { value: 'pretty', label: 'Pretty' },
  { value: 'raw', label: 'Raw' },
  { value: 'bytes', label: 'Hex' },
];

export function BodyView({ title, fileName, body }: BodyViewProps) {
  const [way, setWay] = useState<Way>('pretty');
  const opened = useOpened(body);
  const shown = useMemo(
    () =>
      opened === undefined
        ? undefined
        : shownAs(opened.bytes, body.type, body.isTruncated || opened.remark !== undefined),
    [opened, body.type, body.isTruncated],
  );
  const text = useMemo(
    () => (opened === undefined ? undefined : textOf(opened.bytes, charsetOf(body.type))),
    [opened, body.type],
  );
  if (body.size === 0 && body.base64 === '')
    return (
      <Section title={title}>
        <Text size="sm" c="dimmed">
          No body.
        </Text>
      </Section>
    );
  if (opened === undefined || shown === undefined) return <Section title={title}>{null}</Section>;
  const actions = (
    <>
      <SegmentedControl
        size="xs"
        aria-label={`Show the ${title.toLowerCase()}`}
        data={WAYS}
        value={way}
        onChange={(next) => setWay(next as Way)}
      />
      {text !== undefined && <CopyIcon value={text} what={title.toLowerCase()} />}
      <Tooltip label="Save as file">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Save the ${title.toLowerCase()} as file`}
          onClick={() => saveBytes(opened.bytes, `${fileName}.${endingOf(body.type)}`)}
        >
          <IconDownload size={16} />
        </ActionIcon>
      </Tooltip>
    </>
  );
  return (
    <Section title={title} actions={actions}>
      <Text size="xs" c="dimmed">
        {factsOf(body, opened)}
      </Text>
      {body.isTruncated && <Truncated body={body} />}
      {way === 'pretty' && <PrettyBody shown={shown} bytes={opened.bytes} grpcCoding={body.grpcCoding ?? ''} />}
      {way === 'raw' &&
        (text === undefined ? <HexView bytes={opened.bytes} /> : <LongText text={text} label="Body as received" />)}
      {way === 'bytes' && <HexView bytes={opened.bytes} />}
    </Section>
  );
}

/** What of it is missing, and what would keep it. */
function Truncated({ body }: { readonly body: Body }) {
  const kept = Math.floor((body.base64.replace(/=+$/, '').length * 3) / 4);
  return (
    <Text size="sm" className="culvert-truncated" role="note">
      Truncated: the first {bytesText(kept)} of {bytesText(body.size)} were recorded. The limit of this server is
      inspector.max_body_bytes.
    </Text>
  );
}

/** What it is, how large, and what of it is not shown. */
function factsOf(body: Body, { bytes, undone, remark }: Opened): string {
  return [
    visibleText(typeOf(body.type)) || 'no content type',
    bytesText(body.size),
    ...(undone.length > 0 ? [`decoded (${undone.join(', ')}): ${bytesText(bytes.length)}`] : []),
    ...(remark === undefined ? [] : [remark]),
  ].join(' · ');
}
