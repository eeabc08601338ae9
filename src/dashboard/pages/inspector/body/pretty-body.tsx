/** A body as people read it, after what it is. Nothing of it is ever markup, nor an address to go to. */
import { Table, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { numbered } from '../section.tsx';
import { visibleText } from '../visible-text.ts';
import { partShownAs, type Shown } from './body-kind.ts';
import { base64Of } from './bytes.ts';
import { JsonView } from './json-view.tsx';
import { EventsView, FramesView, LinesView, OperationsView, PartsView } from './message-views.tsx';
import { HexView, LongText } from './raw-text.tsx';

interface PrettyProps {
  readonly shown: Shown;
  readonly bytes: Uint8Array;
  /** Of the header `grpc-encoding`. */
  readonly grpcCoding?: string;
  /** Multiparts around it. */
  readonly depth?: number;
}

export function PrettyBody({ shown, bytes, grpcCoding = '', depth = 0 }: PrettyProps) {
  switch (shown.kind) {
    case 'picture':
      return <Picture type={shown.type} bytes={bytes} />;
    case 'form':
      return (
        <>
          <Rows label="Form fields" rows={shown.fields.map(([name, value]) => [name, visibleText(value)])} />
          {shown.more > 0 && <More count={shown.more} />}
        </>
      );
    case 'parts':
      return <PartsView parts={shown.parts} depth={depth + 1} draw={drawPart} />;
    case 'json':
      return <JsonView tree={shown.tree} label="Body as JSON" />;
    case 'graphql':
      return (
        <>
          <OperationsView operations={shown.operations} />
          <JsonView tree={shown.tree} label="Body as JSON" />
        </>
      );
    case 'events':
      return <EventsView events={shown.events} />;
    case 'lines':
      return <LinesView lines={shown.lines} more={shown.more} />;
    case 'grpc':
      return <FramesView frames={shown.frames} coding={grpcCoding} />;
    case 'message':
      return (
        <>
          <JsonView tree={shown.tree} label="Message fields" />
          <Text size="xs" c="dimmed">
            Fields are shown by their numbers: the schema is not known.
          </Text>
        </>
      );
    case 'text':
      return <LongText text={shown.text} label="Body as text" />;
    case 'bytes':
      return <HexView bytes={bytes} />;
    default:
      return shown satisfies never;
  }
}

function drawPart(bytes: Uint8Array<ArrayBuffer>, type: string, depth: number): ReactNode {
  return <PartBody bytes={bytes} type={type} depth={depth} />;
}

interface PartBodyProps {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly depth: number;
}

/** A part of a form, by its own type; a multipart within a multipart is taken apart too. */
function PartBody({ bytes, type, depth }: PartBodyProps) {
  const [shown] = useState(() => partShownAs(bytes, type, depth));
  return <PrettyBody shown={shown} bytes={bytes} depth={depth} />;
}

function Picture({ type, bytes }: { readonly type: string; readonly bytes: Uint8Array }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken)
    return (
      <>
        <Text size="xs" c="dimmed">
          The browser can&apos;t show this as {type}.
        </Text>
        <HexView bytes={bytes} />
      </>
    );
  // No blob: a picture opened in a tab of its own must not be in this page's origin.
  return (
    <img
      className="culvert-picture"
      src={`data:${type};base64,${base64Of(bytes)}`}
      alt={`Body as ${type}`}
      onError={() => setBroken(true)}
    />
  );
}

function Rows({ label, rows }: { readonly label: string; readonly rows: ReadonlyArray<readonly [string, string]> }) {
  return (
    <Table className="culvert-fields" aria-label={label}>
      <Table.Tbody>
        {numbered(rows).map(({ at, row: [name, value] }) => (
          <Table.Tr key={at}>
            <Table.Th scope="row">
              <bdi>{visibleText(name)}</bdi>
            </Table.Th>
            <Table.Td>
              <bdi>{value}</bdi>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function More({ count }: { readonly count: number }) {
  return (
    <Text size="xs" c="dimmed">
      And {count} more.
    </Text>
  );
}
