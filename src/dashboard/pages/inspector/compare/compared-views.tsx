/** Parts of a comparison: facts in two columns, headers that differ, bodies line by line. */
import { Button, Code, Table, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { bytesText, countText } from '../../../parts/format.ts';
import { charsetOf } from '../body/body-kind.ts';
import { textOf } from '../body/bytes.ts';
import type { Opened } from '../body/codings.ts';
import { useOpened } from '../body/use-opened.ts';
import { numbered, Section } from '../section.tsx';
import { visibleLines, visibleText } from '../visible-text.ts';
import { bodyLines, type ComparedFields, type FactRow } from './compared.ts';
import { diffLines, type DiffLine, type Hunk, hunksOf } from './line-diff.ts';

interface FactsProps {
  readonly label: string;
  readonly rows: readonly FactRow[];
  readonly left: string;
  readonly right: string;
}

export function ComparedFacts({ label, rows, left, right }: FactsProps) {
  return (
    <Table aria-label={label} className="culvert-compared">
      <Table.Thead>
        <Table.Tr>
          <Table.Td />
          <Table.Th scope="col">{left}</Table.Th>
          <Table.Th scope="col">{right}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row.title} data-changed={row.left !== row.right || undefined}>
            <Table.Th scope="row">{row.title}</Table.Th>
            <Table.Td>
              <bdi>{visibleText(row.left)}</bdi>
            </Table.Td>
            <Table.Td>
              <bdi>{visibleText(row.right)}</bdi>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

export function FieldChanges({ title, fields }: { readonly title: string; readonly fields: ComparedFields }) {
  const { changed, same } = fields;
  return (
    <Section title={title}>
      {changed.length > 0 && (
        <Table aria-label={title} className="culvert-compared">
          <Table.Tbody>
            {changed.map(({ name, left, right }) => (
              <Table.Tr key={name} data-changed>
                <Table.Th scope="row">
                  <bdi>{visibleText(name)}</bdi>
                </Table.Th>
                <FieldValue value={left} />
                <FieldValue value={right} />
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Text size="xs" c="dimmed">
        {changed.length === 0 ? 'The same in both' : `${countText(same)} the same in both`}
      </Text>
    </Section>
  );
}

function FieldValue({ value }: { readonly value: string | undefined }) {
  return (
    <Table.Td>
      {value === undefined ? (
        <Text inherit c="dimmed">
          none
        </Text>
      ) : (
        <bdi>{visibleText(value)}</bdi>
      )}
    </Table.Td>
  );
}

export interface ComparedBody {
  readonly base64: string;
  readonly type: string;
  readonly coding: string;
  readonly isTruncated: boolean;
}

interface BodyDiffProps {
  readonly title: string;
  readonly left: ComparedBody;
  readonly right: ComparedBody;
}

export function BodyDiff({ title, left, right }: BodyDiffProps) {
  const [before, after] = [useOpened(left), useOpened(right)];
  return (
    <Section title={title}>
      {(left.isTruncated || right.isTruncated) && (
        <Text size="xs" c="dimmed">
          Truncated: only what was recorded is compared.
        </Text>
      )}
      {before !== undefined && after !== undefined && (
        <Opposed title={title} before={before} after={after} types={[left.type, right.type]} />
      )}
    </Section>
  );
}

interface OpposedProps {
  readonly title: string;
  readonly before: Opened;
  readonly after: Opened;
  readonly types: readonly [left: string, right: string];
}

function Opposed({ title, before, after, types: [leftType, rightType] }: OpposedProps) {
  const lines = useMemo(() => {
    const left = textOf(before.bytes, charsetOf(leftType));
    const right = textOf(after.bytes, charsetOf(rightType));
    return left === undefined || right === undefined ? undefined : diffLines(bodyLines(left), bodyLines(right));
  }, [before, after, leftType, rightType]);
  if (lines === undefined) return <Bytes before={before.bytes} after={after.bytes} />;
  if (lines.every(({ kind }) => kind === 'same')) return <Same isEmpty={before.bytes.length === 0} />;
  return <Diff label={title} lines={lines} />;
}

function Same({ isEmpty }: { readonly isEmpty: boolean }) {
  return (
    <Text size="xs" c="dimmed">
      {isEmpty ? 'Neither has a body' : 'The same in both'}
    </Text>
  );
}

/** What is no text is only said to differ. */
function Bytes({ before, after }: { readonly before: Uint8Array; readonly after: Uint8Array }) {
  const isSame = before.length === after.length && before.every((byte, at) => byte === after[at]);
  if (isSame) return <Same isEmpty={before.length === 0} />;
  return (
    <Text size="sm">
      Different: {bytesText(before.length)} and {bytesText(after.length)}. At least one is not text.
    </Text>
  );
}

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;
/** Lines that are drawn at first. */
const FIRST = 1_000;

/** Each line has a sign besides its colour. */
function Diff({ label, lines }: { readonly label: string; readonly lines: readonly DiffLine[] }) {
  const [isWhole, setWhole] = useState(false);
  const [most, setMost] = useState(FIRST);
  const hunks: readonly Hunk[] = useMemo(() => (isWhole ? [{ lines }] : hunksOf(lines)), [isWhole, lines]);
  const rows = useMemo(
    () => hunks.flatMap((hunk): ReadonlyArray<DiffLine | number> => ('left' in hunk ? [hunk.left] : hunk.lines)),
    [hunks],
  );
  return (
    <>
      <Code block className="culvert-body culvert-diff" tabIndex={0} aria-label={label}>
        {numbered(rows.slice(0, most)).map(({ at, row }) =>
          typeof row === 'number' ? (
            <div key={at} data-kind="left">
              {countText(row)} equal {row === 1 ? 'line' : 'lines'}
            </div>
          ) : (
            <div key={at} data-kind={row.kind}>
              {SIGNS[row.kind]} {visibleLines(row.text)}
            </div>
          ),
        )}
      </Code>
      {rows.length > most && (
        <Button size="xs" variant="default" onClick={() => setMost(most * 2)}>
          Show more ({countText(rows.length - most)} lines left)
        </Button>
      )}
      {!isWhole && hunks.some((hunk) => 'left' in hunk) && (
        <Button size="xs" variant="default" onClick={() => setWhole(true)}>
          Show equal lines
        </Button>
      )}
    </>
  );
}
