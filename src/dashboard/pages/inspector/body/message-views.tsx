/** Bodies of several messages: server-sent events, gRPC frames, parts of a form, GraphQL operations. */
import { Button, Text } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { bytesText } from '../../../parts/format.ts';
import { saveBytes } from '../../../parts/download.tsx';
import { endingOf, messageTree } from './body-kind.ts';
import { textOf } from './bytes.ts';
import { type Opened, openCodings } from './codings.ts';
import type { StreamEvent, StreamEvents } from './events.ts';
import type { Operation } from './graphql.ts';
import type { GrpcFrame, GrpcFrames } from './grpc.ts';
import { parseTree } from './json-tree.ts';
import { JsonView } from './json-view.tsx';
import type { Part, Parts } from './multipart.ts';
import { type Piece, PieceList } from './piece-list.tsx';
import { HexView, LongText } from './raw-text.tsx';

/** JSON as a tree, any other text as it is. */
export function TextView({ text, label }: { readonly text: string; readonly label: string }) {
  const [tree] = useState(() => (/^\s*[[{]/.test(text) ? parseTree(text) : undefined));
  return tree === undefined ? <LongText text={text} label={label} /> : <JsonView tree={tree} label={label} />;
}

export function EventsView({ events: { events, more, comments } }: { readonly events: StreamEvents }) {
  return (
    <>
      <PieceList label="Events" pieces={events.map(eventPiece)} more={more} />
      {events.length === 0 && (
        <Text size="sm" c="dimmed">
          No events.
        </Text>
      )}
      {comments > 0 && (
        <Text size="xs" c="dimmed">
          {comments === 1 ? '1 comment line' : `${comments} comment lines`} left out.
        </Text>
      )}
    </>
  );
}

function eventPiece({ type, id, data, retry, isCut }: StreamEvent): Piece {
  const facts = [
    ...(id === undefined ? [] : [`id ${id}`]),
    ...(retry === undefined ? [] : [`retry ${retry} ms`]),
    ...(isCut ? ['not finished'] : []),
    bytesText(data.length),
  ];
  return {
    title: type,
    facts: facts.join(' · '),
    preview: data,
    content: () => <TextView text={data} label="Event data" />,
  };
}

export function LinesView({ lines, more }: { readonly lines: readonly string[]; readonly more: number }) {
  return <PieceList label="JSON lines" pieces={lines.map(linePiece)} more={more} />;
}

function linePiece(line: string, at: number): Piece {
  const title = `Line ${at + 1}`;
  return {
    title,
    facts: bytesText(line.length),
    preview: line,
    content: () => <TextView text={line} label={title} />,
  };
}

interface FramesProps {
  readonly frames: GrpcFrames;
  /** Of the header `grpc-encoding`. */
  readonly coding: string;
}

export function FramesView({ frames: { frames, more, rest }, coding }: FramesProps) {
  return (
    <>
      <PieceList label="gRPC messages" pieces={frames.map((frame, at) => framePiece(frame, at, coding))} more={more} />
      <Text size="xs" c="dimmed">
        Fields are shown by their numbers: the schema is not known.
        {rest > 0 && ` ${bytesText(rest)} at the end are no message.`}
      </Text>
    </>
  );
}

function framePiece(frame: GrpcFrame, at: number, coding: string): Piece {
  const { isCompressed, isTrailers, length, bytes } = frame;
  const facts = [
    ...(isCompressed ? ['compressed'] : []),
    bytes.length < length ? `${bytesText(bytes.length)} of ${bytesText(length)} recorded` : bytesText(length),
  ];
  return {
    title: isTrailers ? 'Trailers' : `Message ${at + 1}`,
    facts: facts.join(' · '),
    preview: '',
    content: () =>
      isTrailers ? (
        <LongText text={textOf(bytes) ?? ''} label="Trailers" />
      ) : isCompressed ? (
        <PackedMessage bytes={bytes} coding={coding} />
      ) : (
        <MessageView bytes={bytes} />
      ),
  };
}

/** Fields by their numbers; bytes, when it is no protobuf. */
function MessageView({ bytes }: { readonly bytes: Uint8Array<ArrayBuffer> }) {
  const [tree] = useState(() => messageTree(bytes));
  if (bytes.length === 0)
    return (
      <Text size="xs" c="dimmed">
        Empty message.
      </Text>
    );
  return tree === undefined ? <HexView bytes={bytes} /> : <JsonView tree={tree} label="Message fields" />;
}

function PackedMessage({ bytes, coding }: { readonly bytes: Uint8Array<ArrayBuffer>; readonly coding: string }) {
  const [unpacked, setUnpacked] = useState<Opened>();
  useEffect(() => {
    let isGone = false;
    const take = (found: Opened): void => {
      if (!isGone) setUnpacked(found);
    };
    openCodings(bytes, coding).then(take, () =>
      take({ bytes, undone: [], remark: 'The message could not be decoded.' }),
    );
    return () => {
      isGone = true;
    };
  }, [bytes, coding]);
  if (unpacked === undefined) return null;
  const { undone, remark } = unpacked;
  if (undone.length === 0)
    return (
      <>
        <Text size="xs" c="dimmed">
          {remark ?? 'The call does not name its compression (grpc-encoding).'}
        </Text>
        <HexView bytes={bytes} />
      </>
    );
  return <MessageView bytes={unpacked.bytes} />;
}

interface PartsProps {
  readonly parts: Parts;
  /** Multiparts around a part. */
  readonly depth: number;
  /** A part's content by its type; pretty-body.tsx, which draws this list too. */
  readonly draw: (bytes: Uint8Array<ArrayBuffer>, type: string, depth: number) => ReactNode;
}

export function PartsView({ parts: { parts, more }, depth, draw }: PartsProps) {
  const drawn = (bytes: Uint8Array<ArrayBuffer>, type: string): ReactNode => draw(bytes, type, depth);
  return <PieceList label="Form parts" pieces={parts.map((part, at) => partPiece(part, at, drawn))} more={more} />;
}

type Draw = (bytes: Uint8Array<ArrayBuffer>, type: string) => ReactNode;

function partPiece({ name, fileName, type = 'text/plain', bytes }: Part, at: number, draw: Draw): Piece {
  const facts = [...(fileName === undefined ? [] : [`file ${fileName}`]), type, bytesText(bytes.length)];
  // The sender chose the name: the file gets it without what could lead elsewhere.
  const file = `${name.replaceAll(/[^\w-]/g, '_').slice(0, 60) || 'part'}.${endingOf(type)}`;
  return {
    title: name === '' ? `Part ${at + 1}` : name,
    facts: facts.join(' · '),
    preview: textOf(bytes) ?? '',
    content: () => (
      <>
        {draw(bytes, type)}
        <Button size="compact-xs" variant="default" onClick={() => saveBytes(bytes, file)}>
          Save part
        </Button>
      </>
    ),
  };
}

export function OperationsView({ operations }: { readonly operations: readonly Operation[] }) {
  return <PieceList label="GraphQL operations" pieces={operations.map(operationPiece)} />;
}

function operationPiece({ title, query, variables }: Operation): Piece {
  return {
    title,
    facts: variables === undefined ? '' : 'with variables',
    preview: query.replaceAll(/\s+/g, ' '),
    content: () => (
      <>
        {query === '' ? (
          <Text size="xs" c="dimmed">
            Persisted query: only its hash was sent.
          </Text>
        ) : (
          <LongText text={query} label="GraphQL document" />
        )}
        {variables !== undefined && (
          <>
            <Text size="xs" fw={600}>
              Variables
            </Text>
            <TextView text={variables} label="Variables" />
          </>
        )}
      </>
    ),
  };
}
