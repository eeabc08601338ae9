/** A body as people read it, after what it is. Nothing of it is ever markup, nor an address to go to. */
import { Code, Table, Text } from '@mantine/core';
import { memo, useState } from 'react';
import { bytesText } from '../../../parts/format.ts';
import { numbered } from '../section.tsx';
import { visibleLines, visibleText } from '../visible-text.ts';
import type { Shown } from './body-kind.ts';
import { base64Of } from './bytes.ts';
import { HexView, LongText } from './raw-text.tsx';
import type { SetOut } from './json-text.ts';
import type { Part } from './multipart.ts';

interface PrettyProps {
  readonly shown: Shown;
  readonly bytes: Uint8Array;
}

export function PrettyBody({ shown, bytes }: PrettyProps) {
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
      return (
        <>
          <Rows label="Form parts" rows={shown.parts.parts.map((part) => [part.name, partText(part)])} />
          {shown.parts.more > 0 && <More count={shown.parts.more} />}
        </>
      );
    case 'json':
      return (
        <>
          <JsonView json={shown.json} />
          {shown.json.isCut && (
            <Text size="xs" c="dimmed">
              Shortened. Choose Raw or save the body to see all of it.
            </Text>
          )}
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

function partText({ fileName, type, size, text }: Part): string {
  const facts = [fileName === undefined ? [] : [`file ${fileName}`], type ?? [], bytesText(size)].flat().join(', ');
  if (fileName === undefined && type === undefined && text !== undefined) return visibleText(text);
  return visibleText(text === undefined ? facts : `${facts}: ${text}`);
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

/** JSON set out over lines, in colours. Each piece is a text node. */
const JsonView = memo(({ json }: { readonly json: SetOut }) => (
  <Code block className="culvert-body" tabIndex={0} aria-label="Body as JSON">
    {numbered(json.pieces).map(({ at, row: { kind, text } }) =>
      kind === 'plain' ? (
        visibleLines(text)
      ) : (
        <span key={at} data-kind={kind}>
          {visibleLines(text)}
        </span>
      ),
    )}
  </Code>
));
